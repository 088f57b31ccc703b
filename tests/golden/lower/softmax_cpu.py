import math

import numpy as np
from numba import njit, prange
from numpy import float32


@njit(error_model="numpy", parallel={"fusion": False})
def softmax(x, out):
    H, W = x.shape
    for i in prange(H):
        part = np.empty((32,), np.float32)
        total = np.empty((2,), np.float32)
        for t in range(32):
            part[t] = -np.inf
            for j_0 in range((W + 31) // 32):
                if j_0 * 32 + t < W:
                    part[t] = max(part[t], x[i, j_0 * 32 + t])
        total[0] = part[0]
        for k in range(1, 32):
            total[0] = max(total[0], part[k])
        largest = total[0]
        for t in range(32):
            part[t] = 0.0
            for j_0 in range((W + 31) // 32):
                if j_0 * 32 + t < W:
                    part[t] += float32(math.exp(x[i, j_0 * 32 + t] - largest))
        total[1] = 0.0
        for k in range(32):
            total[1] += part[k]
        for t in range(32):
            for j_0 in range((W + 31) // 32):
                if j_0 * 32 + t < W:
                    out[i, j_0 * 32 + t] = (
                        float32(math.exp(x[i, j_0 * 32 + t] - total[0])) / total[1]
                    )
