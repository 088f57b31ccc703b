import numpy as np


def line(x, y):
    n = len(x)
    a = np.empty(5, np.float64)
    if n > 4:
        for k in range(4):
            a[k] = x[k] * 2
    for i in range(0, n - 4, 1):
        a[(i + 4) % 5] = x[i + 4] * 2
        y[i] = a[i % 5] + a[(i + 4) % 5]
