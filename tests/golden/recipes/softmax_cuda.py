import math

import numpy as np
from numba import cuda
from numpy import float32, float64, uint32, uint64


@cuda.jit
def softmax_kernel(x, out, m):
    top_rf_local = cuda.local.array((1,), np.float32)
    top_rf_local_shared = cuda.shared.array((256,), np.float32)
    total_rf_local = cuda.local.array((1,), np.float32)
    total_rf_local_shared = cuda.shared.array((256,), np.float32)
    lane = uint32(cuda.laneid)
    i = uint32(cuda.blockIdx.x)
    top_rf_local_0 = uint32(cuda.threadIdx.x)
    total_rf_local_0 = uint32(cuda.threadIdx.x)
    out_lane_1 = uint32(cuda.threadIdx.x)
    top = float32(-np.inf)
    top_lane = uint32(cuda.threadIdx.x)
    top_rf_local[0] = top
    for top_turn in range((uint64(m) + uint32(255)) // uint32(256)):
        if top_turn * uint32(256) + top_lane < uint64(m):
            top_rf_local[0] = (
                x[i, top_turn * uint32(256) + top_lane]
                if x[i, top_turn * uint32(256) + top_lane] > top_rf_local[0]
                else top_rf_local[0]
            )

    top_rf_local_shared[top_rf_local_0] = top_rf_local[0]
    # top_rf_local_shared, written by thread (top_rf_local_0) above, is read by other threads below
    cuda.syncthreads()
    # the lanes of each warp share the cells and join what they have
    top_part = top
    for turn in range(uint32(8)):
        other = top_rf_local_shared[turn * uint32(32) + lane]
        top_part = other if other > top_part else top_part

    for step in range(5):
        other = cuda.shfl_xor_sync(-1, top_part, 16 >> step)
        top_part = other if other > top_part else top_part

    # 0.0 and -0.0 are equal: all lanes take the one of lane 0
    top_part = cuda.shfl_sync(-1, top_part, 0)
    top = top_part if top_part > top else top
    total = np.float32(0.0)
    out_lane = uint32(cuda.threadIdx.x)
    total_rf_local[0] = 0
    for out_turn in range((uint64(m) + uint32(255)) // uint32(256)):
        if out_turn * uint32(256) + out_lane < uint64(m):
            e = np.float32(math.exp(float64(x[i, out_turn * uint32(256) + out_lane] - top)))
            out[i, out_turn * uint32(256) + out_lane] = e
            total_rf_local[0] += e

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
    for out_turn_1 in range((uint64(m) + uint32(255)) // uint32(256)):
        if out_turn_1 * uint32(256) + out_lane_1 < uint64(m):
            out[i, out_turn_1 * uint32(256) + out_lane_1] /= total


def softmax(x, out):
    n, m = x.shape
    if n > 0:
        softmax_kernel[n, 256](x, out, m)
