import numpy as np


def blur(x, out):
    H, W = x.shape
    wide = np.empty((max(0, H * 2 - 1), W + 3), np.float32)
    for i in range(H):
        for j in range(W - 2):
            wide[i * 2, j + 3] = x[i, j] + x[i, j + 1] + x[i, j + 2]

    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = wide[i * 2, j + 3] + wide[i * 2 + 2, j + 3] + wide[i * 2 + 4, j + 3]
