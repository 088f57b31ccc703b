import numpy as np


def chain(x, y):
    n = len(x)
    a = np.empty(5, np.float64)
    b = np.empty(3, np.float64)
    if n > 4:
        for i_2 in range(4):
            a[i_2] = x[i_2] * 2
        for i_1 in range(2):
            b[i_1 + 1] = a[i_1] + a[i_1 + 2]
    for i in range(2, n - 2):
        a[(i + 2) % 5] = x[i + 2] * 2
        b[(i + 1) % 3] = a[i % 5] + a[(i + 2) % 5]
        y[i] = b[(i - 1) % 3] + b[i % 3] + b[(i + 1) % 3]
