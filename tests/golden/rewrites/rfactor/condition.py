import numpy as np


def rows(x, y):
    n, m = x.shape
    y_rf = np.empty((y.shape[0], 8), y.dtype)
    for i in range(n):
        y[i] = 5
        for k_1 in range(8):
            y_rf[i, k_1] = y[i]
        for k_0 in range((m + 7) // 8):
            for k_1 in range(8):
                if k_0 * 8 + k_1 < m:
                    if x[i, k_0 * 8 + k_1] > y_rf[i, k_1]:
                        y_rf[i, k_1] = x[i, k_0 * 8 + k_1]
        for k_1 in range(8):
            y[i] = max(y[i], y_rf[i, k_1])
