import math

import numpy as np

from astile.loops import block, local, shared, thread


def softmax(x, out):
    n, m = x.shape
    for i in block.x(n):
        top = -np.inf
        top_rf_local = local.empty(256, np.result_type(0.0, x))
        for top_lane in thread.x(256):
            top_rf_local[top_lane] = top
        for top_lane in thread.x(256):
            for top_turn in range((m + 255) // 256):
                if top_turn * 256 + top_lane < m:
                    top_rf_local[top_lane] = max(
                        top_rf_local[top_lane], x[i, top_turn * 256 + top_lane]
                    )
        top_rf_local_shared = shared.empty(256, np.result_type(0.0, x))
        for top_rf_local_0 in thread.x(256):
            top_rf_local_shared[top_rf_local_0] = top_rf_local[top_rf_local_0]
        for top_lane in range(256):
            top = max(top, top_rf_local_shared[top_lane])
        total = np.float32(0.0)
        total_rf_local = local.empty(256, np.float32)
        for out_lane in thread.x(256):
            total_rf_local[out_lane] = 0
        for out_lane in thread.x(256):
            for out_turn in range((m + 255) // 256):
                if out_turn * 256 + out_lane < m:
                    e = np.float32(math.exp(x[i, out_turn * 256 + out_lane] - top))
                    out[i, out_turn * 256 + out_lane] = e
                    total_rf_local[out_lane] += e
        total_rf_local_shared = shared.empty(256, np.float32)
        for total_rf_local_0 in thread.x(256):
            total_rf_local_shared[total_rf_local_0] = total_rf_local[total_rf_local_0]
        for out_lane in range(256):
            total += total_rf_local_shared[out_lane]
        for out_lane_1 in thread.x(256):
            for out_turn_1 in range((m + 255) // 256):
                if out_turn_1 * 256 + out_lane_1 < m:
                    out[i, out_turn_1 * 256 + out_lane_1] /= total
