import numpy as np

from astile.loops import local, parallel


def weighted(x, w, counts):
    counts_rf = np.empty((8, counts.shape[0]), counts.dtype)
    for i_0 in parallel(8):
        counts_rf_local = local.empty((1, counts.shape[0]), counts.dtype)
        for counts_0 in range(counts.shape[0]):
            counts_rf_local[0, counts_0] = 0
        for i_1 in range((len(x) + 7) // 8):
            if i_0 * ((len(x) + 7) // 8) + i_1 < len(x):
                counts_rf_local[0, x[i_0 * ((len(x) + 7) // 8) + i_1]] += w[
                    i_0 * ((len(x) + 7) // 8) + i_1
                ]
        for counts_rf_1 in range(counts.shape[0]):
            counts_rf[i_0, counts_rf_1] = counts_rf_local[0, counts_rf_1]

    for i_0 in range(8):
        for counts_0 in range(counts.shape[0]):
            counts[counts_0] += counts_rf[i_0, counts_0]
