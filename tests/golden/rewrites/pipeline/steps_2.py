import numpy as np

from astile.loops import shared


def steps(x, y):
    n = len(x)
    tile = shared.empty((2, 8), np.float64)
    # prologue of the loop over k
    for k in range(min(n, 1)):
        for i in range(8):
            tile[k % 2, i] = x[k, i]

    # steady state of the loop over k
    for k in range(n - 1):
        for i in range(8):
            tile[(k + 1) % 2, i] = x[k + 1, i]
        for i in range(8):
            y[i] += tile[k % 2, 7 - i]

    # epilogue of the loop over k
    for k in range(max(n - 1, 0), n):
        for i in range(8):
            y[i] += tile[k % 2, 7 - i]
