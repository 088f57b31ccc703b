import numpy as np

from astile.loops import shared


def steps(x, y):
    n = len(x)
    tile = shared.empty((2, 8), np.float64)
    for k in range(n):
        for i in range(8):
            tile[k % 2, i] = x[k, i]
        for i in range(8):
            y[i] += tile[k % 2, 7 - i]
