import numpy as np


def typed(x, y):
    n = len(y)
    for i in range(n):
        y[i] = np.float32(x[i] * 2.5) + np.float32(x[i + 1] * 2.5)
