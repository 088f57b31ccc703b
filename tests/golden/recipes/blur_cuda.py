import numpy as np
from numba import cuda
from numpy import uint32, uint64


@cuda.jit
def blur_kernel(x, out, H, W):
    wide_shared = cuda.shared.array((18, 16), np.float32)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_lane = uint32(cuda.threadIdx.y)
    j = uint32(cuda.threadIdx.x)
    i_1 = uint32(cuda.threadIdx.y)
    j_1 = uint32(cuda.threadIdx.x)
    for i_turn in range(uint32(2)):
        if (
            i_turn * uint32(16) + i_lane < uint32(18)
            and i_0 * uint32(16) + i_turn * uint32(16) + i_lane < uint64(H)
            and j_0 * uint32(16) + j + uint32(2) < uint64(W)
        ):
            wide_shared[i_turn * uint32(16) + i_lane, j] = (
                x[i_0 * uint32(16) + i_turn * uint32(16) + i_lane, j_0 * uint32(16) + j]
                + x[
                    i_0 * uint32(16) + i_turn * uint32(16) + i_lane,
                    j_0 * uint32(16) + j + uint32(1),
                ]
                + x[
                    i_0 * uint32(16) + i_turn * uint32(16) + i_lane,
                    j_0 * uint32(16) + j + uint32(2),
                ]
            )

    # wide_shared, written by thread (i_lane, j) above, is read by other threads below
    cuda.syncthreads()
    if (
        i_0 * uint32(16) + i_1 + uint32(2) < uint64(H)
        and j_0 * uint32(16) + j_1 + uint32(2) < uint64(W)
    ):
        out[i_0 * uint32(16) + i_1, j_0 * uint32(16) + j_1] = (
            wide_shared[i_1, j_1]
            + wide_shared[i_1 + uint32(1), j_1]
            + wide_shared[i_1 + uint32(2), j_1]
        )


def blur(x, out):
    H, W = x.shape
    grid = (W + 13) // 16, (H + 13) // 16
    if min(grid) > 0:
        blur_kernel[grid, (16, 16)](x, out, H, W)
