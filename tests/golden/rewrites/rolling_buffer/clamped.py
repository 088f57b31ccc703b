import numpy as np


def line(x, y):
    n = len(x)
    a = np.empty(3, np.float64)
    if n > 0:
        for k in range(2):
            if 0 < k:
                a[(k - 1) % 3] = x[k - 1] * 2
    for i in range(0, n, 1):
        if i < min(i + 1, n - 1):
            a[(i + 1) % 3] = x[i + 1] * 2
        y[i] = a[max(i - 1, 0) % 3] + a[min(i + 1, n - 1) % 3]
