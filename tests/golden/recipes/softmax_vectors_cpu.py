import math

import numpy as np
from numba import njit, prange
from numpy import float32, uint64

from astile.intrinsics.vectors import load, splat, store


@njit(error_model="numpy", parallel={"fusion": False})
def softmax_compiled(x, out, top_rf_local_dtype):
    n, m = x.shape
    for i_0 in prange((n + 15) // 16):
        for i_1 in range(min(16, n - i_0 * 16)):
            top = -np.inf
            top_rf_local = np.empty(64, top_rf_local_dtype)
            for j_lane in range(64):
                top_rf_local[j_lane] = top
            for j_strip in range(m // 64):
                for j_lane in range(64):
                    top_rf_local[j_lane] = max(
                        top_rf_local[j_lane], x[i_0 * 16 + i_1, j_strip * 64 + j_lane]
                    )
            top_rf_local_1 = np.empty(16, top_rf_local_dtype)
            for j_lane_part in range(16):
                top_rf_local_1[j_lane_part] = top
            for j_lane_part in range(16):
                top_rf_local_1[j_lane_part] = max(
                    top_rf_local_1[j_lane_part], top_rf_local[j_lane_part]
                )
            for j_lane_part in range(16):
                top_rf_local_1[j_lane_part] = max(
                    top_rf_local_1[j_lane_part], top_rf_local[j_lane_part + 16]
                )
            for j_lane_part in range(16):
                top_rf_local_1[j_lane_part] = max(
                    top_rf_local_1[j_lane_part], top_rf_local[j_lane_part + 32]
                )
            for j_lane_part in range(16):
                top_rf_local_1[j_lane_part] = max(
                    top_rf_local_1[j_lane_part], top_rf_local[j_lane_part + 48]
                )
            for j_lane_part in range(16):
                top = max(top, top_rf_local_1[j_lane_part])
            for j in range(m // 64 * 64, m):
                top = max(top, x[i_0 * 16 + i_1, uint64(j)])
            total = np.float32(0.0)
            total_rf_local = np.empty(64, np.float32)
            number_s = splat(float32(0), 16)
            store(total_rf_local, 0, number_s)
            store(total_rf_local, 16, number_s)
            store(total_rf_local, 32, number_s)
            store(total_rf_local, 48, number_s)
            for j_strip_1 in range(m // 64):
                for j_lane_1 in range(64):
                    e = np.float32(math.exp(x[i_0 * 16 + i_1, j_strip_1 * 64 + j_lane_1] - top))
                    out[i_0 * 16 + i_1, j_strip_1 * 64 + j_lane_1] = e
                    total_rf_local[j_lane_1] += e
            total_rf_local_1 = np.empty(16, np.float32)
            store(total_rf_local_1, 0, splat(float32(0), 16))
            store(total_rf_local_1, 0, load(total_rf_local_1, 0, 16) + load(total_rf_local, 0, 16))
            store(total_rf_local_1, 0, load(total_rf_local_1, 0, 16) + load(total_rf_local, 16, 16))
            store(total_rf_local_1, 0, load(total_rf_local_1, 0, 16) + load(total_rf_local, 32, 16))
            store(total_rf_local_1, 0, load(total_rf_local_1, 0, 16) + load(total_rf_local, 48, 16))
            for j_lane_1_part in range(16):
                total += total_rf_local_1[j_lane_1_part]
            for j in range(m // 64 * 64, m):
                e = np.float32(math.exp(x[i_0 * 16 + i_1, uint64(j)] - top))
                out[i_0 * 16 + i_1, uint64(j)] = e
                total += e
            for j in range(m):
                out[i_0 * 16 + i_1, j] /= total


def softmax(x, out):
    return softmax_compiled(x, out, np.result_type(0.0, x))
