import numpy as np


def sums(x, y):
    n, m = x.shape
    a = np.empty(2, np.float64)
    if n > 1:
        a[0] = 0
        for k in range(m):
            a[0] += x[0, k]
    for i in range(n - 1):
        a[(i + 1) % 2] = 0
        for k in range(m):
            a[(i + 1) % 2] += x[i + 1, k]
        y[i] = a[i % 2] + a[(i + 1) % 2]
