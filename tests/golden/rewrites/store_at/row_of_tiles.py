import numpy as np


def blur(x, out):
    H, W = x.shape
    for i_0 in range((H + 5) // 8):
        wide = np.empty((10, (W + 1) // 4 * 4), np.float32)
        for j_0 in range((W + 1) // 4):
            for i in range(10):
                for j in range(4):
                    if i_0 * 8 + i < H and j_0 * 4 + j < W - 2:
                        wide[i, j_0 * 4 + j] = (
                            x[i_0 * 8 + i, j_0 * 4 + j]
                            + x[i_0 * 8 + i, j_0 * 4 + j + 1]
                            + x[i_0 * 8 + i, j_0 * 4 + j + 2]
                        )
            for i_1 in range(8):
                if i_0 * 8 + i_1 < H - 2:
                    for j_1 in range(4):
                        if j_0 * 4 + j_1 < W - 2:
                            out[i_0 * 8 + i_1, j_0 * 4 + j_1] = (
                                wide[i_1, j_0 * 4 + j_1]
                                + wide[i_1 + 1, j_0 * 4 + j_1]
                                + wide[i_1 + 2, j_0 * 4 + j_1]
                            )
