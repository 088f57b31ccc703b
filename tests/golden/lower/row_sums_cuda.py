import numpy as np
from numba import cuda
from numpy import uint32, uint64


@cuda.jit
def row_sums_kernel(x, out, W):
    rank = uint32(cuda.threadIdx.x)
    i = uint32(cuda.blockIdx.x)
    total = np.float32(0.0)
    for j in range(uint64(W)):
        total += x[i, j]

    j = uint32(cuda.threadIdx.x)
    if j < uint64(W):
        out[i, j] = total + x[i, j]
    if uint64(W) > uint32(8):
        # out[i, j] is written above, out[i, j] is written again below
        cuda.syncthreads()
        # the threads of the block share these iterations
        for j in range(uint32(8) + rank, uint64(W), uint32(8)):
            out[i, j] = total + x[i, j]


def row_sums(x, out):
    H, W = x.shape
    if H > 0:
        row_sums_kernel[H, 8](x, out, W)
