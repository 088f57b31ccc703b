import numpy as np
from numba import njit
from numpy import float32, int64, shares_memory, uint64


@njit(error_model="numpy", boundscheck=True)
def weighted_compiled(x, w, counts):
    counts_rf = np.empty((8, counts.shape[0]), counts.dtype)
    for i_0 in range(8):
        counts_rf_local = np.empty((1, counts.shape[0]), counts.dtype)
        for counts_0 in range(counts.shape[0]):
            counts_rf_local[0, counts_0] = 0
        for i_1 in range(min((len(x) + 7) // 8, len(x) - i_0 * ((len(x) + 7) // 8))):
            counts_rf_local[0, x[uint64(i_0 * ((len(x) + 7) // 8) + i_1)]] += w[
                uint64(i_0 * ((len(x) + 7) // 8) + i_1)
            ]
        for counts_rf_1 in range(counts.shape[0]):
            counts_rf[i_0, counts_rf_1] = counts_rf_local[0, counts_rf_1]

    for i_0 in range(8):
        for counts_0 in range(counts.shape[0]):
            counts[counts_0] += counts_rf[i_0, counts_0]


def weighted(x, w, counts):
    types = x.dtype, x.ndim, w.dtype, w.ndim, counts.dtype, counts.ndim
    if types != (int64, 1, float32, 1, float32, 1):
        raise TypeError(
            "made for x: int64 of 1 axis, w: float32 of 1 axis, counts: float32 of 1 axis; emit "
            "it with dtypes= for others; given "
            + str(types)
        )
    if shares_memory(x, counts) or shares_memory(w, counts):
        raise ValueError("arrays meet in memory, and one of them is written: pass copies")
    if x.shape[0] >= w.shape[0] + 1:
        raise IndexError("w[i] leaves w along axis 0")
    return weighted_compiled(x, w, counts)
