import numpy as np


def line(x, y):
    n = len(x)
    a = np.empty(3, np.float64)
    if (n - 1) // 2 > 0:
        a[0] = x[0] * 2
    for i in range(0, (n - 1) // 2, 1):
        for k in range(2):
            a[(i * 2 + k + 1) % 3] = x[i * 2 + k + 1] * 2
        y[i] = a[i * 2 % 3] + a[(i * 2 + 1) % 3] + a[(i * 2 + 2) % 3]
