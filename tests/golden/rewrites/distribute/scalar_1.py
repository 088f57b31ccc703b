import numpy as np


def f(x, y):
    n, m = x.shape
    s_tile = np.empty(n, np.result_type(0.0, x))
    for i in range(n):
        s_tile[i] = 0.0

    for i in range(n):
        for j in range(m):
            s_tile[i] += x[i, j]
        for j in range(m):
            y[i, j] = x[i, j] - s_tile[i]
