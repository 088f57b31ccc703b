import numpy as np

from astile.loops import local


def f(x, y):
    n, m = x.shape
    for i in range(n):
        a_local = local.empty((1, m), np.float32)
        for j in range(m):
            a_local[0, j] = x[i, j]
        for j in range(1, m):
            y[i, j] = a_local[0, j] - a_local[0, j - 1]
