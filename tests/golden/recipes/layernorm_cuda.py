import math

import numpy as np
from numba import cuda
from numpy import float32, float64, uint32, uint64


@cuda.jit
def layernorm_kernel(x, gain, bias, out, m):
    total_rf_local = cuda.local.array((1,), np.float32)
    total_rf_local_shared = cuda.shared.array((256,), np.float32)
    spread_rf_local = cuda.local.array((1,), np.float32)
    spread_rf_local_shared = cuda.shared.array((256,), np.float32)
    lane = uint32(cuda.laneid)
    i = uint32(cuda.blockIdx.x)
    total_rf_local_0 = uint32(cuda.threadIdx.x)
    spread_rf_local_0 = uint32(cuda.threadIdx.x)
    out_lane = uint32(cuda.threadIdx.x)
    total = float32(0.0)
    total_lane = uint32(cuda.threadIdx.x)
    total_rf_local[0] = 0
    for total_turn in range((uint64(m) + uint32(255)) // uint32(256)):
        if total_turn * uint32(256) + total_lane < uint64(m):
            total_rf_local[0] += x[i, total_turn * uint32(256) + total_lane]

    total_rf_local_shared[total_rf_local_0] = total_rf_local[0]
    # total_rf_local_shared, written by thread (total_rf_local_0) above, is read by other threads
    # below
    cuda.syncthreads()
    # the lanes of each warp share the cells and join what they have
    total_part = np.float32(0)
    for turn in range(uint32(8)):
        other = total_rf_local_shared[turn * uint32(32) + lane]
        total_part += other

    for step in range(5):
        other = cuda.shfl_xor_sync(-1, total_part, 16 >> step)
        total_part += other

    total += total_part
    mean = total / float32(m)
    spread = float32(0.0)
    spread_lane = uint32(cuda.threadIdx.x)
    spread_rf_local[0] = 0
    for spread_turn in range((uint64(m) + uint32(255)) // uint32(256)):
        if spread_turn * uint32(256) + spread_lane < uint64(m):
            spread_rf_local[0] += (
                x[i, spread_turn * uint32(256) + spread_lane] - mean
            ) * (x[i, spread_turn * uint32(256) + spread_lane] - mean)

    spread_rf_local_shared[spread_rf_local_0] = spread_rf_local[0]
    # spread_rf_local_shared, written by thread (spread_rf_local_0) above, is read by other threads
    # below
    cuda.syncthreads()
    # the lanes of each warp share the cells and join what they have
    spread_part = np.float32(0)
    for turn in range(uint32(8)):
        other = spread_rf_local_shared[turn * uint32(32) + lane]
        spread_part += other

    for step in range(5):
        other = cuda.shfl_xor_sync(-1, spread_part, 16 >> step)
        spread_part += other

    spread += spread_part
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
        layernorm_kernel[n, 256](x, gain, bias, out, m)
