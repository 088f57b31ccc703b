import math

import numpy as np
from numba import njit, prange
from numpy import float32, uint64

from astile.intrinsics.linked_once import linked_once
from astile.intrinsics.vectors import empty_aligned, lane, load, splat, store


@linked_once
@njit(error_model="numpy")
def softmax_part(n, i_0, top_rf_local_dtype, m, x, out):
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
        top = max(top, top_rf_local_1[0])
        top = max(top, top_rf_local_1[1])
        top = max(top, top_rf_local_1[2])
        top = max(top, top_rf_local_1[3])
        top = max(top, top_rf_local_1[4])
        top = max(top, top_rf_local_1[5])
        top = max(top, top_rf_local_1[6])
        top = max(top, top_rf_local_1[7])
        top = max(top, top_rf_local_1[8])
        top = max(top, top_rf_local_1[9])
        top = max(top, top_rf_local_1[10])
        top = max(top, top_rf_local_1[11])
        top = max(top, top_rf_local_1[12])
        top = max(top, top_rf_local_1[13])
        top = max(top, top_rf_local_1[14])
        top = max(top, top_rf_local_1[15])
        for j in range(m // 64 * 64, m):
            top = max(top, x[i_0 * 16 + i_1, uint64(j)])
        total = np.float32(0.0)
        total_rf_local = empty_aligned(64, np.float32)
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
        total_rf_local_1_0 = splat(float32(0), 16)
        total_rf_local_1_0 = total_rf_local_1_0 + load(total_rf_local, 0, 16)
        total_rf_local_1_0 = total_rf_local_1_0 + load(total_rf_local, 16, 16)
        total_rf_local_1_0 = total_rf_local_1_0 + load(total_rf_local, 32, 16)
        total_rf_local_1_0 = total_rf_local_1_0 + load(total_rf_local, 48, 16)
        total += lane(total_rf_local_1_0, 0)
        total += lane(total_rf_local_1_0, 1)
        total += lane(total_rf_local_1_0, 2)
        total += lane(total_rf_local_1_0, 3)
        total += lane(total_rf_local_1_0, 4)
        total += lane(total_rf_local_1_0, 5)
        total += lane(total_rf_local_1_0, 6)
        total += lane(total_rf_local_1_0, 7)
        total += lane(total_rf_local_1_0, 8)
        total += lane(total_rf_local_1_0, 9)
        total += lane(total_rf_local_1_0, 10)
        total += lane(total_rf_local_1_0, 11)
        total += lane(total_rf_local_1_0, 12)
        total += lane(total_rf_local_1_0, 13)
        total += lane(total_rf_local_1_0, 14)
        total += lane(total_rf_local_1_0, 15)
        for j in range(m // 64 * 64, m):
            e = np.float32(math.exp(x[i_0 * 16 + i_1, uint64(j)] - top))
            out[i_0 * 16 + i_1, uint64(j)] = e
            total += e
        for j in range(m):
            out[i_0 * 16 + i_1, j] /= total


@njit(error_model="numpy", parallel={"fusion": False})
def softmax_compiled(x, out, top_rf_local_dtype):
    n, m = x.shape
    for i_0 in prange((n + 15) // 16):
        softmax_part(n, uint64(i_0), top_rf_local_dtype, m, x, out)


def softmax(x, out):
    return softmax_compiled(x, out, np.result_type(0.0, x))
