import numpy as np


def pool(x, out):
    n = len(out)
    a = np.empty(2 * n)
    for i_0 in range((n + 7) // 8):
        for i in range(16):
            if i_0 * 16 + i < n * 2:
                a[i_0 * 16 + i] = x[i_0 * 16 + i] * x[i_0 * 16 + i]
        for i_1 in range(8):
            if i_0 * 8 + i_1 < n:
                out[i_0 * 8 + i_1] = max(a[2 * (i_0 * 8 + i_1)], a[2 * (i_0 * 8 + i_1) + 1])
