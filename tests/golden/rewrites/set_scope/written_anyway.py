import numpy as np

from astile.loops import shared


def f(x, y):
    n = len(x)
    for i_0 in range((n + 7) // 8):
        a_shared = shared.empty(8, np.float64)
        for i in range(8):
            if i_0 * 8 + i < n:
                a_shared[i] = x[i_0 * 8 + i] * 2
        for i_1 in range(8):
            if i_0 * 8 + i_1 < n:
                y[i_0 * 8 + i_1] = a_shared[i_1] + 1
