import numpy as np


def blur(x, out):
    H, W = x.shape
    wide = np.empty((H, 2), np.float32)
    for i in range(H - 2):
        if W > 1:
            wide[i, 0] = x[i, 0]
        for j in range(W - 1):
            wide[i, (j + 1) % 2] = x[i, j + 1]
            out[i, j] = wide[i, j % 2] + wide[i, (j + 1) % 2]
