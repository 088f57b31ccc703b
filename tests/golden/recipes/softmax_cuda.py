import math

import numpy as np
from numba import cuda
from numpy import float32, float64, uint32, uint64


@cuda.jit
def softmax_kernel(x, out, n, m):
    top_rf_shared = cuda.shared.array((256,), np.float32)
    top_rf_shared_1 = cuda.shared.array((16,), np.float32)
    total_rf_shared = cuda.shared.array((256,), np.float32)
    total_rf_shared_1 = cuda.shared.array((16,), np.float32)
    i = uint32(cuda.blockIdx.x)
    top_lane = uint32(cuda.threadIdx.x)
    out_lane = uint32(cuda.threadIdx.x)
    out_lane_1 = uint32(cuda.threadIdx.x)
    top = float32(-np.inf)
    top_rf_shared[top_lane] = top
    for top_turn in range((uint64(m) + uint32(255)) // uint32(256)):
        if top_turn * uint32(256) + top_lane < uint64(m):
            top_rf_shared[top_lane] = (
                x[i, top_turn * uint32(256) + top_lane]
                if x[i, top_turn * uint32(256) + top_lane] > top_rf_shared[top_lane]
                else top_rf_shared[top_lane]
            )

    if cuda.threadIdx.x < 16:
        top_join = uint32(cuda.threadIdx.x)
        top_rf_shared_1[top_join] = top
    # top_rf_shared, written by thread (top_lane) above, is read by other threads below
    cuda.syncthreads()
    if cuda.threadIdx.x < 16:
        top_join = uint32(cuda.threadIdx.x)
        for top_part in range(uint32(16)):
            top_rf_shared_1[top_join] = (
                top_rf_shared[top_part * uint32(16) + top_join]
                if top_rf_shared[top_part * uint32(16) + top_join] > top_rf_shared_1[top_join]
                else top_rf_shared_1[top_join]
            )
    # top_rf_shared_1, written by thread (top_join) above, is read by other threads below
    cuda.syncthreads()
    for top_join in range(uint32(16)):
        top = top_rf_shared_1[top_join] if top_rf_shared_1[top_join] > top else top

    total = np.float32(0.0)
    total_rf_shared[out_lane] = 0
    for out_turn in range((uint64(m) + uint32(255)) // uint32(256)):
        if out_turn * uint32(256) + out_lane < uint64(m):
            e = np.float32(math.exp(float64(x[i, out_turn * uint32(256) + out_lane] - top)))
            out[i, out_turn * uint32(256) + out_lane] = e
            total_rf_shared[out_lane] += e

    if cuda.threadIdx.x < 16:
        total_join = uint32(cuda.threadIdx.x)
        total_rf_shared_1[total_join] = 0
    # total_rf_shared, written by thread (out_lane) above, is read by other threads below
    cuda.syncthreads()
    if cuda.threadIdx.x < 16:
        total_join = uint32(cuda.threadIdx.x)
        for total_part in range(uint32(16)):
            total_rf_shared_1[total_join] += total_rf_shared[total_part * uint32(16) + total_join]
    # total_rf_shared_1, written by thread (total_join) above, is read by other threads below
    cuda.syncthreads()
    for total_join in range(uint32(16)):
        total += total_rf_shared_1[total_join]

    for out_turn_1 in range((uint64(m) + uint32(255)) // uint32(256)):
        if out_turn_1 * uint32(256) + out_lane_1 < uint64(m):
            out[i, out_turn_1 * uint32(256) + out_lane_1] /= total


def softmax(x, out):
    n, m = x.shape
    if n > 0:
        softmax_kernel[n, 256](x, out, n, m)
