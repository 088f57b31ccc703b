import numpy as np


def stages(x, y, total):
    n, m = x.shape
    half = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            half[i, j] = x[i, j] / 2

    sums = np.zeros(n)
    scale = n * 2
    if m == 3:
        for i in range(n):
            for j in range(3):
                if j + 1 < m:
                    sums[i] += half[i, j + 1]
            y[i] = sums[i] * scale
    else:
        for i in range(n):
            for j in range(min(m, 8)):
                if j + 1 < m:
                    sums[i] += half[i, j + 1]
            y[i] = sums[i] * scale
    total[0] = scale
    return sums
