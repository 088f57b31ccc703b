import numpy as np
from numba import cuda
from numpy import uint32, uint64


@cuda.jit
def stencil_kernel(x, w, y):
    x_shared = cuda.shared.array((18, 18), np.float32)
    rank = uint32(cuda.threadIdx.y) * uint32(16) + uint32(cuda.threadIdx.x)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_1 = uint32(cuda.threadIdx.y)
    j_1 = uint32(cuda.threadIdx.x)
    # the threads of the block share these iterations
    for turn in range(uint32(2)):
        cell = uint32(turn * uint32(256) + rank)
        if cell < uint32(324):
            x_0 = cell // uint32(18)
            x_1 = cell % uint32(18)
            if (
                i_0 * uint32(16) + x_0 < uint64(y.shape[0]) + uint32(2)
                and j_0 * uint32(16) + x_1 < uint64(y.shape[1]) + uint32(2)
            ):
                x_shared[x_0, x_1] = x[i_0 * uint32(16) + x_0, j_0 * uint32(16) + x_1]

    # x_shared, written by all threads above, is read by other threads below
    cuda.syncthreads()
    if i_0 * uint32(16) + i_1 < uint64(y.shape[0]) and j_0 * uint32(16) + j_1 < uint64(y.shape[1]):
        s = np.float32(0.0)
        for a in range(uint32(3)):
            for b in range(uint32(3)):
                s += x_shared[i_1 + a, j_1 + b] * w[a, b]
        y[i_0 * uint32(16) + i_1, j_0 * uint32(16) + j_1] = s


def stencil(x, w, y):
    grid = (y.shape[1] + 15) // 16, (y.shape[0] + 15) // 16
    if min(grid) > 0:
        stencil_kernel[grid, (16, 16)](x, w, y)
