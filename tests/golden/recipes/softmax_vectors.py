import math

import numpy as np

from astile.loops import local, parallel, unroll, vector


def softmax(x, out):
    n, m = x.shape
    for i_0 in parallel((n + 15) // 16):
        for i_1 in range(16):
            if i_0 * 16 + i_1 < n:
                top = -np.inf
                top_rf_local = local.empty(64, np.result_type(0.0, x))
                for j_lane in vector(64):
                    top_rf_local[j_lane] = top
                for j_strip in range(m // 64):
                    for j_lane in vector(64):
                        top_rf_local[j_lane] = max(
                            top_rf_local[j_lane], x[i_0 * 16 + i_1, j_strip * 64 + j_lane]
                        )
                top_rf_local_1 = local.empty(16, np.result_type(0.0, x))
                for j_lane_part in vector(16):
                    top_rf_local_1[j_lane_part] = top
                for j_lane_vector in unroll(4):
                    for j_lane_part in vector(16):
                        top_rf_local_1[j_lane_part] = max(
                            top_rf_local_1[j_lane_part],
                            top_rf_local[j_lane_vector * 16 + j_lane_part],
                        )
                for j_lane_part in unroll(16):
                    top = max(top, top_rf_local_1[j_lane_part])
                for j in range(m // 64 * 64, m):
                    top = max(top, x[i_0 * 16 + i_1, j])
                total = np.float32(0.0)
                total_rf_local = local.empty(64, np.float32)
                for j_lane_1 in vector(64):
                    total_rf_local[j_lane_1] = 0
                for j_strip_1 in range(m // 64):
                    for j_lane_1 in vector(64):
                        e = np.float32(math.exp(x[i_0 * 16 + i_1, j_strip_1 * 64 + j_lane_1] - top))
                        out[i_0 * 16 + i_1, j_strip_1 * 64 + j_lane_1] = e
                        total_rf_local[j_lane_1] += e
                total_rf_local_1 = local.empty(16, np.float32)
                for j_lane_1_part in vector(16):
                    total_rf_local_1[j_lane_1_part] = 0
                for j_lane_1_vector in unroll(4):
                    for j_lane_1_part in vector(16):
                        total_rf_local_1[j_lane_1_part] += total_rf_local[
                            j_lane_1_vector * 16 + j_lane_1_part
                        ]
                for j_lane_1_part in unroll(16):
                    total += total_rf_local_1[j_lane_1_part]
                for j in range(m // 64 * 64, m):
                    e = np.float32(math.exp(x[i_0 * 16 + i_1, j] - top))
                    out[i_0 * 16 + i_1, j] = e
                    total += e
                for j in vector(m):
                    out[i_0 * 16 + i_1, j] /= total
