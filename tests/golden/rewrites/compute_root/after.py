import numpy as np


def conv_add(x, w, out):
    n, m = out.shape
    conv = np.empty((n + 2, m), np.float32)
    for i in range(n + 2):
        for j in range(m):
            acc = np.float32(0)
            for a in range(3):
                acc += x[i, j + a] * w[a]
            conv[i, j] = acc

    for i_0 in range((n + 15) // 16):
        for j_0 in range((m + 7) // 8):
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n:
                    for j_1 in range(8):
                        if j_0 * 8 + j_1 < m:
                            out[i_0 * 16 + i_1, j_0 * 8 + j_1] = (
                                conv[i_0 * 16 + i_1, j_0 * 8 + j_1]
                                + conv[i_0 * 16 + i_1 + 2, j_0 * 8 + j_1]
                            )
