import numpy as np


def blur(x, out):
    n, m = x.shape
    rows = np.empty((n, m - 2))
    for i in range(n):
        for j in range(m - 2):
            rows[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
        if 2 <= i:
            for j in range(m - 2):
                out[i - 2, j] = rows[i - 2, j] + rows[i - 1, j] + rows[i, j]
