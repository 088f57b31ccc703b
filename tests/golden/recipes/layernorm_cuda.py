import math

import numpy as np
from numba import cuda
from numpy import float32, float64, uint32, uint64


@cuda.jit
def layernorm_kernel(x, gain, bias, out, n, m):
    total_rf_shared = cuda.shared.array((256,), np.float32)
    total_rf_shared_1 = cuda.shared.array((16,), np.float32)
    spread_rf_shared = cuda.shared.array((256,), np.float32)
    spread_rf_shared_1 = cuda.shared.array((16,), np.float32)
    i = uint32(cuda.blockIdx.x)
    total_lane = uint32(cuda.threadIdx.x)
    spread_lane = uint32(cuda.threadIdx.x)
    out_lane = uint32(cuda.threadIdx.x)
    total = float32(0.0)
    total_rf_shared[total_lane] = 0
    for total_turn in range((uint64(m) + uint32(255)) // uint32(256)):
        if total_turn * uint32(256) + total_lane < uint64(m):
            total_rf_shared[total_lane] += x[i, total_turn * uint32(256) + total_lane]

    if cuda.threadIdx.x < 16:
        total_join = uint32(cuda.threadIdx.x)
        total_rf_shared_1[total_join] = 0
    # total_rf_shared, written by thread (total_lane) above, is read by other threads below
    cuda.syncthreads()
    if cuda.threadIdx.x < 16:
        total_join = uint32(cuda.threadIdx.x)
        for total_part in range(uint32(16)):
            total_rf_shared_1[total_join] += total_rf_shared[total_part * uint32(16) + total_join]
    # total_rf_shared_1, written by thread (total_join) above, is read by other threads below
    cuda.syncthreads()
    for total_join in range(uint32(16)):
        total += total_rf_shared_1[total_join]

    mean = total / float32(m)
    spread = float32(0.0)
    spread_rf_shared[spread_lane] = 0
    for spread_turn in range((uint64(m) + uint32(255)) // uint32(256)):
        if spread_turn * uint32(256) + spread_lane < uint64(m):
            spread_rf_shared[spread_lane] += (
                x[i, spread_turn * uint32(256) + spread_lane] - mean
            ) * (x[i, spread_turn * uint32(256) + spread_lane] - mean)

    if cuda.threadIdx.x < 16:
        spread_join = uint32(cuda.threadIdx.x)
        spread_rf_shared_1[spread_join] = 0
    # spread_rf_shared, written by thread (spread_lane) above, is read by other threads below
    cuda.syncthreads()
    if cuda.threadIdx.x < 16:
        spread_join = uint32(cuda.threadIdx.x)
        for spread_part in range(uint32(16)):
            spread_rf_shared_1[spread_join] += spread_rf_shared[
                spread_part * uint32(16) + spread_join
            ]
    # spread_rf_shared_1, written by thread (spread_join) above, is read by other threads below
    cuda.syncthreads()
    for spread_join in range(uint32(16)):
        spread += spread_rf_shared_1[spread_join]

    scale = 1.0 / math.sqrt(float64(spread / float32(m) + float32(1e-05)))
    for out_turn in range((uint64(m) + uint32(255)) // uint32(256)):
        if out_turn * uint32(256) + out_lane < uint64(m):
            out[i, out_turn * uint32(256) + out_lane] = (
                (x[i, out_turn * uint32(256) + out_lane] - mean)
                * float32(scale)
                * gain[out_turn * uint32(256) + out_lane]
                + bias[out_turn * uint32(256) + out_lane]
            )


def layernorm(x, gain, bias, out):
    n, m = x.shape
    if n > 0:
        layernorm_kernel[n, 256](x, gain, bias, out, n, m)
