import numpy as np


def blur(x, out):
    H, W = x.shape
    wide = np.empty((3, W), np.float32)
    if H > 2:
        for i_1 in range(2):
            for j_1 in range(W - 2):
                wide[i_1, j_1] = x[i_1, j_1] + x[i_1, j_1 + 1] + x[i_1, j_1 + 2]
    for i in range(H - 2):
        for j_1 in range(W - 2):
            wide[(i + 2) % 3, j_1] = x[i + 2, j_1] + x[i + 2, j_1 + 1] + x[i + 2, j_1 + 2]
        for j in range(W - 2):
            out[i, j] = wide[i % 3, j] + wide[(i + 1) % 3, j] + wide[(i + 2) % 3, j]
