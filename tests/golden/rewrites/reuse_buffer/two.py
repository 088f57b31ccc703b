import numpy as np

from astile.loops import shared


def two(x, y):
    n = len(x)
    for k in range(n):
        a = shared.empty(8, np.float64)
        for i in range(8):
            a[i] = x[k, i]
        for i in range(8):
            y[k, i] = a[7 - i]
        for i in range(8):
            a[i] = y[k, i] * 2
        for i in range(8):
            y[k, i] += a[7 - i]
