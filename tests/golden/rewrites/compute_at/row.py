import numpy as np


def blur(x, out):
    H, W = x.shape
    wide = np.empty((H, W), np.float32)
    for i in range(H - 2):
        for i_1 in range(3):
            for j_1 in range(W - 2):
                wide[i + i_1, j_1] = x[i + i_1, j_1] + x[i + i_1, j_1 + 1] + x[i + i_1, j_1 + 2]
        for j in range(W - 2):
            out[i, j] = wide[i, j] + wide[i + 1, j] + wide[i + 2, j]
