import numpy as np
from numba import njit, prange
from numpy import uint64


@njit(error_model="numpy", parallel={"fusion": False})
def blur(x, out):
    H, W = x.shape
    for i_0 in prange((H + 15) // 16):
        for j_0 in range((W + 15) // 16):
            wide_shared = np.empty((18, 16), np.float32)
            for i_1 in range(18):
                for j_1 in range(16):
                    if 0 <= i_0 * 16 + i_1 - 1 < H and j_0 * 16 + j_1 < W:
                        wide_shared[i_1, j_1] = x[i_0 * 16 + i_1 - 1, uint64(j_0 * 16 + j_1)]
                        if j_0 * 16 + j_1 - 1 >= 0:
                            wide_shared[i_1, j_1] += x[
                                i_0 * 16 + i_1 - 1, uint64(j_0 * 16 + j_1 - 1)
                            ]
                        if j_0 * 16 + j_1 + 1 < W:
                            wide_shared[i_1, j_1] += x[
                                i_0 * 16 + i_1 - 1, uint64(j_0 * 16 + j_1 + 1)
                            ]
                    else:
                        wide_shared[i_1, j_1] = 0.0
            for i_1 in range(min(16, H - i_0 * 16)):
                for j_1 in range(min(16, W - j_0 * 16)):
                    out[i_0 * 16 + i_1, uint64(j_0 * 16 + j_1)] = (
                        wide_shared[i_1, j_1]
                        + wide_shared[i_1 + 1, j_1]
                        + wide_shared[i_1 + 2, j_1]
                    )
