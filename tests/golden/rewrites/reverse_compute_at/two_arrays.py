import numpy as np


def f(x, y):
    n = len(x)
    a = np.empty(n)
    b = np.empty(n)
    for i_0 in range((n + 7) // 8):
        for i_1 in range(8):
            if i_0 * 8 + i_1 < n:
                a[i_0 * 8 + i_1] = x[i_0 * 8 + i_1] * 2
                b[i_0 * 8 + i_1] = x[i_0 * 8 + i_1] + 1
        for i in range(8):
            if 0 < i_0 * 8 + i < n:
                y[i_0 * 8 + i - 1] = a[i_0 * 8 + i] * b[i_0 * 8 + i - 1]
