import numpy as np


def dot(x, y):
    s = 0.0
    s_rf = np.empty(8, np.result_type(0.0, x, y))
    for k_1 in range(8):
        s_rf[k_1] = 0

    for k_0 in range((len(x) + 7) // 8):
        for k_1 in range(8):
            if k_0 * 8 + k_1 < len(x):
                s_rf[k_1] += x[k_0 * 8 + k_1] * y[k_0 * 8 + k_1]

    for k_1 in range(8):
        s += s_rf[k_1]

    return s
