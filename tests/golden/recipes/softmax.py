import math

import numpy as np

from astile.loops import block, shared, thread


def softmax(x, out):
    n, m = x.shape
    for i in block.x(n):
        top = -np.inf
        top_rf_shared = shared.empty(256, np.result_type(0.0, x))
        for top_lane in thread.x(256):
            top_rf_shared[top_lane] = top
        for top_lane in thread.x(256):
            for top_turn in range((m + 255) // 256):
                if top_turn * 256 + top_lane < m:
                    top_rf_shared[top_lane] = max(
                        top_rf_shared[top_lane], x[i, top_turn * 256 + top_lane]
                    )
        top_rf_shared_1 = shared.empty(16, np.result_type(0.0, x))
        for top_join in thread.x(16):
            top_rf_shared_1[top_join] = top
        for top_join in thread.x(16):
            for top_part in range(16):
                top_rf_shared_1[top_join] = max(
                    top_rf_shared_1[top_join], top_rf_shared[top_part * 16 + top_join]
                )
        for top_join in range(16):
            top = max(top, top_rf_shared_1[top_join])
        total = np.float32(0.0)
        total_rf_shared = shared.empty(256, np.float32)
        for out_lane in thread.x(256):
            total_rf_shared[out_lane] = 0
        for out_lane in thread.x(256):
            for out_turn in range((m + 255) // 256):
                if out_turn * 256 + out_lane < m:
                    e = np.float32(math.exp(x[i, out_turn * 256 + out_lane] - top))
                    out[i, out_turn * 256 + out_lane] = e
                    total_rf_shared[out_lane] += e
        total_rf_shared_1 = shared.empty(16, np.float32)
        for total_join in thread.x(16):
            total_rf_shared_1[total_join] = 0
        for total_join in thread.x(16):
            for total_part in range(16):
                total_rf_shared_1[total_join] += total_rf_shared[total_part * 16 + total_join]
        for total_join in range(16):
            total += total_rf_shared_1[total_join]
        for out_lane_1 in thread.x(256):
            for out_turn_1 in range((m + 255) // 256):
                if out_turn_1 * 256 + out_lane_1 < m:
                    out[i, out_turn_1 * 256 + out_lane_1] /= total
