import numpy as np

from astile.loops import shared


def steps(x, y):
    n = len(x)
    tile = shared.empty((3, 8), np.float64)
    # prologue of the loop over k
    for k in range(min(n, 2)):
        for i in range(8):
            tile[k % 3, i] = x[k, i]

    # steady state of the loop over k
    for k in range(n - 2):
        for i in range(8):
            tile[(k + 2) % 3, i] = x[k + 2, i]
        for i in range(8):
            y[i] += tile[k % 3, 7 - i]

    # epilogue of the loop over k
    for k in range(max(n - 2, 0), n):
        for i in range(8):
            y[i] += tile[k % 3, 7 - i]
