import numpy as np


def conv_add(x, w, bias, out):
    H, W = out.shape
    conv = np.empty((H, W), np.float32)
    for i_0 in range((H + 15) // 16):
        for j_0 in range((W + 15) // 16):
            for i in range(16):
                for j in range(16):
                    if i_0 * 16 + i < H and j_0 * 16 + j < W:
                        acc = np.float32(0)
                        for a in range(3):
                            for b in range(3):
                                acc += x[i_0 * 16 + i + a, j_0 * 16 + j + b] * w[a, b]
                        conv[i_0 * 16 + i, j_0 * 16 + j] = acc
            for i_1 in range(16):
                if i_0 * 16 + i_1 < H:
                    for j_1 in range(16):
                        if j_0 * 16 + j_1 < W:
                            out[i_0 * 16 + i_1, j_0 * 16 + j_1] = (
                                conv[i_0 * 16 + i_1, j_0 * 16 + j_1]
                                + bias[i_0 * 16 + i_1, j_0 * 16 + j_1]
                            )
