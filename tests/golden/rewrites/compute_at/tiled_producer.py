import numpy as np


def conv_add(x, w, bias, out):
    H, W = out.shape
    conv = np.empty((H, W), np.float32)
    for i_0_1 in range((H + 15) // 16):
        for j_0_1 in range((W + 15) // 16):
            for i_1 in range(16):
                for j_1 in range(16):
                    if i_0_1 * 16 + i_1 < H and j_0_1 * 16 + j_1 < W:
                        acc = np.float32(0)
                        for a in range(3):
                            for b in range(3):
                                acc += x[i_0_1 * 16 + i_1 + a, j_0_1 * 16 + j_1 + b] * w[a, b]
                        conv[i_0_1 * 16 + i_1, j_0_1 * 16 + j_1] = acc
            for i_1_1 in range(16):
                if i_0_1 * 16 + i_1_1 < H:
                    for j_1_1 in range(16):
                        if j_0_1 * 16 + j_1_1 < W:
                            out[i_0_1 * 16 + i_1_1, j_0_1 * 16 + j_1_1] = (
                                conv[i_0_1 * 16 + i_1_1, j_0_1 * 16 + j_1_1]
                                + bias[i_0_1 * 16 + i_1_1, j_0_1 * 16 + j_1_1]
                            )
