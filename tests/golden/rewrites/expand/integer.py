import numpy as np


def f(x, y):
    n, m = x.shape
    s_tile = np.empty(n, np.result_type(0, x))
    for i in range(n):
        s_tile[i] = 0
        for k in range(m):
            s_tile[i] += x[i, k] * 2
        y[i] = s_tile[i]
