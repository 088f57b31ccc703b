import numpy as np

from astile.loops import local


def f(x, y):
    for t in range(len(x)):
        s_tile = local.empty(4, np.result_type(0, x))
        for i in range(0, 8, 2):
            s_tile[i // 2] = x[t, i] * 2
        for i in range(0, 8, 2):
            y[t, i] = s_tile[i // 2]
