import numpy as np


def line(x, y):
    n = len(x)
    for i in range(n):
        if i % 3 == 0:
            y[i] = np.float64(x[i] * 2) + i
