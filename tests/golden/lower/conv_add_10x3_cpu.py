import numpy as np
from numba import njit, prange
from numpy import uint64


@njit(error_model="numpy", parallel={"fusion": False})
def conv_add(x, w, bias, out):
    H, W = out.shape
    for i_0 in prange((H + 9) // 10):
        for j_0 in range((W + 2) // 3):
            conv_shared = np.empty((10, 3), np.float32)
            for i_1 in range(min(10, H - i_0 * 10)):
                for j_1 in range(min(3, W - j_0 * 3)):
                    acc = np.float32(0.0)
                    for p in range(3):
                        for q in range(3):
                            acc += x[i_0 * 10 + i_1 + p, uint64(j_0 * 3 + j_1 + q)] * w[p, q]
                    conv_shared[i_1, j_1] = acc
            for i_1 in range(min(10, H - i_0 * 10)):
                for j_1 in range(min(3, W - j_0 * 3)):
                    out[i_0 * 10 + i_1, uint64(j_0 * 3 + j_1)] = (
                        conv_shared[i_1, j_1] + bias[i_0 * 10 + i_1, uint64(j_0 * 3 + j_1)]
                    )
