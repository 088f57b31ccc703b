import math

import numpy as np

from astile.loops import block, local, shared, thread


def layernorm(x, gain, bias, out):
    n, m = x.shape
    for i in block.x(n):
        total = 0.0
        total_rf_local = local.empty(256, np.result_type(0.0, x))
        for total_lane in thread.x(256):
            total_rf_local[total_lane] = 0
        for total_lane in thread.x(256):
            for total_turn in range((m + 255) // 256):
                if total_turn * 256 + total_lane < m:
                    total_rf_local[total_lane] += x[i, total_turn * 256 + total_lane]
        total_rf_local_shared = shared.empty(256, np.result_type(0.0, x))
        for total_rf_local_0 in thread.x(256):
            total_rf_local_shared[total_rf_local_0] = total_rf_local[total_rf_local_0]
        for total_lane in range(256):
            total += total_rf_local_shared[total_lane]
        mean = total / m
        spread = 0.0
        spread_rf_local = local.empty(256, np.result_type(0.0, 0, x))
        for spread_lane in thread.x(256):
            spread_rf_local[spread_lane] = 0
        for spread_lane in thread.x(256):
            for spread_turn in range((m + 255) // 256):
                if spread_turn * 256 + spread_lane < m:
                    spread_rf_local[spread_lane] += (
                        x[i, spread_turn * 256 + spread_lane] - mean
                    ) * (x[i, spread_turn * 256 + spread_lane] - mean)
        spread_rf_local_shared = shared.empty(256, np.result_type(0.0, 0, x))
        for spread_rf_local_0 in thread.x(256):
            spread_rf_local_shared[spread_rf_local_0] = spread_rf_local[spread_rf_local_0]
        for spread_lane in range(256):
            spread += spread_rf_local_shared[spread_lane]
        scale = 1.0 / math.sqrt(spread / m + 1e-05)
        for out_lane in thread.x(256):
            for out_turn in range((m + 255) // 256):
                if out_turn * 256 + out_lane < m:
                    out[i, out_turn * 256 + out_lane] = (
                        x[i, out_turn * 256 + out_lane] - mean
                    ) * scale * gain[out_turn * 256 + out_lane] + bias[out_turn * 256 + out_lane]
