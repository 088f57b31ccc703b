import math

import numpy as np


def softmax(x, y):
    n, m = x.shape
    most_tile = np.empty(n, x.dtype)
    for i in range(n):
        most_tile[i] = x[i, 0]
        for j in range(1, m):
            most_tile[i] = max(most_tile[i], x[i, j])

    for j in range(m):
        for i in range(n):
            y[i, j] = math.exp(x[i, j] - most_tile[i])

    for i in range(n):
        total = x[i, 0] * 0
        for j in range(m):
            total += y[i, j]
        for j in range(m):
            y[i, j] = y[i, j] / total
