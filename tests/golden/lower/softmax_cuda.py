import math

import numpy as np
from numba import cuda
from numpy import float32, uint32, uint64


@cuda.jit
def softmax_kernel(x, out, W):
    part = cuda.shared.array((32,), np.float32)
    total = cuda.shared.array((2,), np.float32)
    i = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    part[t] = -np.inf
    for j_0 in range((uint64(W) + uint32(31)) // uint32(32)):
        if j_0 * uint32(32) + t < uint64(W):
            part[t] = (
                x[i, j_0 * uint32(32) + t] if x[i, j_0 * uint32(32) + t] > part[t] else part[t]
            )

    # part[t] is written above, part[0] is read below
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        total[0] = part[0]
        for k in range(uint32(1), uint32(32)):
            total[0] = part[k] if part[k] > total[0] else total[0]
    # total[0] is written above, total[0] is read below
    cuda.syncthreads()
    largest = total[0]
    part[t] = 0.0
    for j_0 in range((uint64(W) + uint32(31)) // uint32(32)):
        if j_0 * uint32(32) + t < uint64(W):
            part[t] += float32(math.exp(x[i, j_0 * uint32(32) + t] - largest))

    # total[0] is read above, total[1] is written below
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        total[1] = 0.0
        for k in range(uint32(32)):
            total[1] += part[k]
    # total[1] is written above, total[0] is read below
    cuda.syncthreads()
    for j_0 in range((uint64(W) + uint32(31)) // uint32(32)):
        if j_0 * uint32(32) + t < uint64(W):
            out[i, j_0 * uint32(32) + t] = (
                float32(math.exp(x[i, j_0 * uint32(32) + t] - total[0])) / total[1]
            )


def softmax(x, out):
    H, W = x.shape
    if H > 0:
        softmax_kernel[H, 32](x, out, W)
