import numpy as np

from astile.loops import local


def blur(x, out):
    H, W = x.shape
    for i_0 in range((H + 5) // 8):
        wide_local = local.empty((3, max(0, W - 2)), np.float32)
        for i in range(2):
            for j_1 in range(W - 2):
                wide_local[(i_0 * 8 + i) % 3, j_1] = (
                    x[i_0 * 8 + i, j_1] + x[i_0 * 8 + i, j_1 + 1] + x[i_0 * 8 + i, j_1 + 2]
                )
        for i_1 in range(8):
            if i_0 * 8 + i_1 + 2 < H:
                for j_1 in range(W - 2):
                    wide_local[(i_0 * 8 + i_1 + 2) % 3, j_1] = (
                        x[i_0 * 8 + i_1 + 2, j_1]
                        + x[i_0 * 8 + i_1 + 2, j_1 + 1]
                        + x[i_0 * 8 + i_1 + 2, j_1 + 2]
                    )
                for j in range(W - 2):
                    out[i_0 * 8 + i_1, j] = (
                        wide_local[(i_0 * 8 + i_1) % 3, j]
                        + wide_local[(i_0 * 8 + i_1 + 1) % 3, j]
                        + wide_local[(i_0 * 8 + i_1 + 2) % 3, j]
                    )
