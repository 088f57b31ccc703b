import numpy as np


def blur(x, out):
    H, W = x.shape
    wide = np.empty(((H + 1) // 2, W * 2), np.float32)
    for i in range(H):
        for j in range(W - 2):
            wide[i // 2, j * 2 + i % 2] = x[i, j] + x[i, j + 1] + x[i, j + 2]

    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = (
                wide[i // 2, j * 2 + i % 2]
                + wide[(i + 1) // 2, j * 2 + (i + 1) % 2]
                + wide[i // 2 + 1, j * 2 + i % 2]
            )
