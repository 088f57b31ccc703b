import numpy as np

from astile.loops import local


def chain(x, y):
    n = len(x)
    a = np.empty(n, np.float32)
    for i in range(1, n - 1):
        a[i] = x[i - 1] + x[i + 1]

    for i_0 in range((n + 3) // 8):
        a_local = local.empty(10, np.float32)
        for a_0 in range(10):
            if i_0 * 8 + a_0 < n - 2:
                a_local[a_0] = a[i_0 * 8 + a_0 + 1]
        for i_1 in range(8):
            if i_0 * 8 + i_1 < n - 4:
                y[i_0 * 8 + i_1 + 2] = a_local[i_1] * a_local[i_1 + 1] * a_local[i_1 + 2]
