import numpy as np


def f(x, y):
    n = len(x)
    a = np.empty(n)
    for i_0 in range((n + 7) // 8):
        for i in range(4):
            if i_0 * 4 + i < n // 2:
                a[i_0 * 8 + i * 2 + 1] = -x[i_0 * 8 + i * 2 + 1]
        for i_2 in range(4):
            if i_0 * 4 + i_2 < (n + 1) // 2:
                a[i_0 * 8 + i_2 * 2] = x[i_0 * 8 + i_2 * 2]
        for i_1 in range(8):
            if i_0 * 8 + i_1 < n:
                y[i_0 * 8 + i_1] = a[i_0 * 8 + i_1] + 1
