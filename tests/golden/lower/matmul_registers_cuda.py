import numpy as np
from numba import cuda
from numpy import uint32, uint64


@cuda.jit
def matmul_registers_kernel(A, B, C, M, K, N):
    acc = cuda.local.array((2, 4), np.float32)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_1 = uint32(cuda.threadIdx.y)
    j_1 = uint32(cuda.threadIdx.x)
    for i_2 in range(uint32(2)):
        for j_2 in range(uint32(4)):
            acc[i_2, j_2] = 0.0

    for k in range(uint64(K)):
        for i_2 in range(uint32(2)):
            for j_2 in range(uint32(4)):
                if (
                    i_0 * uint32(8) + i_1 * uint32(2) + i_2 < uint64(M)
                    and j_0 * uint32(32) + j_2 * uint32(8) + j_1 < uint64(N)
                ):
                    acc[i_2, j_2] += (
                        A[i_0 * uint32(8) + i_1 * uint32(2) + i_2, k]
                        * B[k, j_0 * uint32(32) + j_2 * uint32(8) + j_1]
                    )

    for i_2 in range(uint32(2)):
        for j_2 in range(uint32(4)):
            if (
                i_0 * uint32(8) + i_1 * uint32(2) + i_2 < uint64(M)
                and j_0 * uint32(32) + j_2 * uint32(8) + j_1 < uint64(N)
            ):
                C[
                    i_0 * uint32(8) + i_1 * uint32(2) + i_2,
                    j_0 * uint32(32) + j_2 * uint32(8) + j_1,
                ] = acc[i_2, j_2]


def matmul_registers(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    grid = (N + 31) // 32, (M + 7) // 8
    if min(grid) > 0:
        matmul_registers_kernel[grid, (8, 4)](A, B, C, M, K, N)
