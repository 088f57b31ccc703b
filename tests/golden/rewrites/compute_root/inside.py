import numpy as np


def inside(x, y):
    n, m = y.shape
    a = np.empty((n, m))
    for i in range(n):
        for j in range(i):
            a[i, j] = x[i, j] * 2

    for i in range(n):
        if i > 2:
            for j in range(i):
                y[i, j] = a[i, j] + 1
