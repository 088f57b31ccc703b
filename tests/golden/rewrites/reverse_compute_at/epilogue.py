import numpy as np


def f(x, y):
    n, m = x.shape
    a = np.empty((n, m))
    for i_0 in range((n + 15) // 16):
        for j_0 in range((m + 15) // 16):
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n:
                    for j_1 in range(16):
                        if j_0 * 16 + j_1 < m:
                            a[i_0 * 16 + i_1, j_0 * 16 + j_1] = (
                                x[i_0 * 16 + i_1, j_0 * 16 + j_1] * 2
                            )
            for i in range(16):
                for j in range(16):
                    if i_0 * 16 + i < n and j_0 * 16 + j < m:
                        y[i_0 * 16 + i, j_0 * 16 + j] = a[i_0 * 16 + i, j_0 * 16 + j] + 1
