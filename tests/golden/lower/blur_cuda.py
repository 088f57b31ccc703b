import numpy as np
from numba import cuda
from numpy import uint32, uint64


@cuda.jit
def blur_kernel(x, out, H, W):
    wide_shared = cuda.shared.array((18, 16), np.float32)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_1 = uint32(cuda.threadIdx.y)
    j_1 = uint32(cuda.threadIdx.x)
    if (
        uint32(1) <= i_0 * uint32(16) + i_1
        and i_0 * uint32(16) + i_1 < uint64(H) + uint32(1)
        and j_0 * uint32(16) + j_1 < uint64(W)
    ):
        wide_shared[i_1, j_1] = x[i_0 * uint32(16) + i_1 - uint32(1), j_0 * uint32(16) + j_1]
        if j_0 * uint32(16) + j_1 >= uint32(1):
            wide_shared[i_1, j_1] += x[
                i_0 * uint32(16) + i_1 - uint32(1), j_0 * uint32(16) + j_1 - uint32(1)
            ]
        if j_0 * uint32(16) + j_1 + uint32(1) < uint64(W):
            wide_shared[i_1, j_1] += x[
                i_0 * uint32(16) + i_1 - uint32(1), j_0 * uint32(16) + j_1 + uint32(1)
            ]
    else:
        wide_shared[i_1, j_1] = 0.0
    # wide_shared[i_1, j_1] is written above, wide_shared[i_1, j_1] is read below
    cuda.syncthreads()
    if (
        i_1 < uint32(16)
        and i_0 * uint32(16) + i_1 < uint64(H)
        and j_0 * uint32(16) + j_1 < uint64(W)
    ):
        out[i_0 * uint32(16) + i_1, j_0 * uint32(16) + j_1] = (
            wide_shared[i_1, j_1]
            + wide_shared[i_1 + uint32(1), j_1]
            + wide_shared[i_1 + uint32(2), j_1]
        )


def blur(x, out):
    H, W = x.shape
    grid = (W + 15) // 16, (H + 15) // 16
    if min(grid) > 0:
        blur_kernel[grid, (16, 18)](x, out, H, W)
