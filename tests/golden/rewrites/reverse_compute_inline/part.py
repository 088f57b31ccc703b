import numpy as np


def line(x, y):
    n = len(x)
    for i in range(n):
        if 0 < i < n - 2:
            y[i - 1] += np.float64(x[i] * 2)
