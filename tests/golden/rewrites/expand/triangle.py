import numpy as np


def f(x, y):
    n = x.shape[0]
    t_tile = np.empty((n, max(0, n - 1)), np.result_type(0, x))
    for i in range(n):
        for j in range(i):
            t_tile[i, j] = x[i, j] * 2
            y[i, j] = t_tile[i, j]
