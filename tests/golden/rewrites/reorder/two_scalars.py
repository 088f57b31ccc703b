import numpy as np


def f(x, y, z):
    n, m = x.shape
    s_tile = np.empty(n, np.result_type(0.0, x))
    p_tile = np.empty(n, np.result_type(0.0, x))
    for i in range(n):
        s_tile[i] = 0.0
        p_tile[i] = 1.0

    for j in range(m):
        for i in range(n):
            s_tile[i] += x[i, j]
            p_tile[i] *= x[i, j]

    for i in range(n):
        y[i] = s_tile[i]
        z[i] = p_tile[i]
