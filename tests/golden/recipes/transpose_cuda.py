import numpy as np
from numba import cuda
from numpy import uint32, uint64


@cuda.jit
def transpose_kernel(A, B, n, m):
    # axis 1 is padded from 32 to 33 cells
    A_shared = cuda.shared.array((32, 33), np.float32)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    A_0_lane = uint32(cuda.threadIdx.y)
    A_1 = uint32(cuda.threadIdx.x)
    j_1_lane = uint32(cuda.threadIdx.y)
    i_1 = uint32(cuda.threadIdx.x)
    for A_0_turn in range(uint32(4)):
        if (
            i_0 * uint32(32) + A_0_turn * uint32(8) + A_0_lane < uint64(n)
            and j_0 * uint32(32) + A_1 < uint64(m)
        ):
            A_shared[A_0_turn * uint32(8) + A_0_lane, A_1] = A[
                i_0 * uint32(32) + A_0_turn * uint32(8) + A_0_lane, j_0 * uint32(32) + A_1
            ]

    # A_shared, written by thread (A_0_lane, A_1) above, is read by other threads below
    cuda.syncthreads()
    for j_1_turn in range(uint32(4)):
        if (
            i_0 * uint32(32) + i_1 < uint64(n)
            and j_0 * uint32(32) + j_1_turn * uint32(8) + j_1_lane < uint64(m)
        ):
            B[j_0 * uint32(32) + j_1_turn * uint32(8) + j_1_lane, i_0 * uint32(32) + i_1] = (
                A_shared[i_1, j_1_turn * uint32(8) + j_1_lane]
            )


def transpose(A, B):
    n, m = A.shape
    grid = (m + 31) // 32, (n + 31) // 32
    if min(grid) > 0:
        transpose_kernel[grid, (32, 8)](A, B, n, m)
