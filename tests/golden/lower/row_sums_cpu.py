import numpy as np
from numba import njit, prange
from numpy import uint64


@njit(error_model="numpy", parallel={"fusion": False})
def row_sums(x, out):
    H, W = x.shape
    for i in prange(H):
        total = np.float32(0.0)
        for j in range(W):
            total += x[i, j]
        for j in range(min(8, W)):
            out[i, j] = total + x[i, j]
        if W > 8:
            for j in range(8, W):
                out[i, uint64(j)] = total + x[i, uint64(j)]
