import numpy as np


def sharpen(rgb, out):
    H, W = out.shape
    grey = np.empty((H + 4, W + 4))
    tall = np.empty((H, W + 4))
    soft = np.empty((H, W))
    for i_0 in range((H + 7) // 8):
        for j_0 in range((W + 15) // 16):
            for i_3 in range(12):
                for j_3 in range(20):
                    if i_0 * 8 + i_3 < H + 4 and j_0 * 16 + j_3 < W + 4:
                        grey[i_0 * 8 + i_3, j_0 * 16 + j_3] = (
                            rgb[i_0 * 8 + i_3, j_0 * 16 + j_3, 0]
                            + rgb[i_0 * 8 + i_3, j_0 * 16 + j_3, 1] * 2
                            + rgb[i_0 * 8 + i_3, j_0 * 16 + j_3, 2]
                        )
            for i_2 in range(8):
                for j_2 in range(20):
                    if i_0 * 8 + i_2 < H and j_0 * 16 + j_2 < W + 4:
                        tall[i_0 * 8 + i_2, j_0 * 16 + j_2] = (
                            grey[i_0 * 8 + i_2, j_0 * 16 + j_2]
                            + grey[i_0 * 8 + i_2 + 2, j_0 * 16 + j_2]
                            + grey[i_0 * 8 + i_2 + 4, j_0 * 16 + j_2]
                        )
            for i in range(8):
                for j in range(16):
                    if i_0 * 8 + i < H and j_0 * 16 + j < W:
                        soft[i_0 * 8 + i, j_0 * 16 + j] = (
                            tall[i_0 * 8 + i, j_0 * 16 + j]
                            + tall[i_0 * 8 + i, j_0 * 16 + j + 2]
                            + tall[i_0 * 8 + i, j_0 * 16 + j + 4]
                        )
            for i_1 in range(8):
                if i_0 * 8 + i_1 < H:
                    for j_1 in range(16):
                        if j_0 * 16 + j_1 < W:
                            out[i_0 * 8 + i_1, j_0 * 16 + j_1] = (
                                grey[i_0 * 8 + i_1 + 2, j_0 * 16 + j_1 + 2] * 2
                                - soft[i_0 * 8 + i_1, j_0 * 16 + j_1]
                            )
