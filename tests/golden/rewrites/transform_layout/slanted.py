import numpy as np


def blur(x, out):
    H, W = x.shape
    wide = np.empty((max(0, W + H - 1), W), np.float32)
    for i in range(H):
        for j in range(W - 2):
            wide[i + j, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]

    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = wide[i + j, j] + wide[i + j + 1, j] + wide[i + j + 2, j]
