import numpy as np
from numba import njit, prange
from numpy import uint64


@njit(error_model="numpy")
def weighted_part(counts, x, i_0, w, counts_rf):
    counts_rf_local = np.empty((1, counts.shape[0]), counts.dtype)
    for counts_0 in range(counts.shape[0]):
        counts_rf_local[0, counts_0] = 0

    for i_1 in range(min((len(x) + 7) // 8, len(x) - i_0 * ((len(x) + 7) // 8))):
        counts_rf_local[0, x[uint64(i_0 * ((len(x) + 7) // 8) + i_1)]] += w[
            uint64(i_0 * ((len(x) + 7) // 8) + i_1)
        ]

    for counts_rf_1 in range(counts.shape[0]):
        counts_rf[i_0, counts_rf_1] = counts_rf_local[0, counts_rf_1]


@njit(error_model="numpy", parallel={"fusion": False})
def weighted(x, w, counts):
    counts_rf = np.empty((8, counts.shape[0]), counts.dtype)
    for i_0 in prange(8):
        weighted_part(counts, x, uint64(i_0), w, counts_rf)

    for i_0 in range(8):
        for counts_0 in range(counts.shape[0]):
            counts[counts_0] += counts_rf[i_0, counts_0]
