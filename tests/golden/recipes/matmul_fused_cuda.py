import numpy as np
from numba import cuda
from numpy import uint32, uint64


@cuda.jit
def matmul_kernel(A, B, C, M, K, N):
    A_shared = cuda.shared.array((16, 24), np.float32)
    B_shared = cuda.shared.array((24, 16), np.float32)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_1 = uint32(cuda.threadIdx.y)
    j_1 = uint32(cuda.threadIdx.x)
    A_y = uint32(cuda.threadIdx.y)
    A_x = uint32(cuda.threadIdx.x)
    B_y = uint32(cuda.threadIdx.y)
    B_x = uint32(cuda.threadIdx.x)
    if i_0 * uint32(16) + i_1 < uint64(M) and j_0 * uint32(16) + j_1 < uint64(N):
        C[i_0 * uint32(16) + i_1, j_0 * uint32(16) + j_1] = 0.0
    for k_0 in range((uint64(K) + uint32(23)) // uint32(24)):
        for A_t in range(uint32(2)):
            if (
                A_t * uint32(256) + A_y * uint32(16) + A_x < uint32(384)
                and i_0 * uint32(16) + (A_t * uint32(256) + A_y * uint32(16) + A_x) // uint32(24)
                < uint64(M)
                and k_0 * uint32(24) + (A_t * uint32(256) + A_y * uint32(16) + A_x) % uint32(24)
                < uint64(K)
            ):
                A_shared[
                    (A_t * uint32(256) + A_y * uint32(16) + A_x) // uint32(24),
                    (A_t * uint32(256) + A_y * uint32(16) + A_x) % uint32(24),
                ] = A[
                    i_0 * uint32(16) + (A_t * uint32(256) + A_y * uint32(16) + A_x) // uint32(24),
                    k_0 * uint32(24) + (A_t * uint32(256) + A_y * uint32(16) + A_x) % uint32(24),
                ]
        for B_t in range(uint32(2)):
            if (
                B_t * uint32(256) + B_y * uint32(16) + B_x < uint32(384)
                and k_0 * uint32(24) + B_t * uint32(16) + B_y < uint64(K)
                and j_0 * uint32(16) + B_x < uint64(N)
            ):
                B_shared[B_t * uint32(16) + B_y, B_x] = B[
                    k_0 * uint32(24) + B_t * uint32(16) + B_y, j_0 * uint32(16) + B_x
                ]
        # A_shared, written by thread (A_y, A_x) above, is read by other threads below
        cuda.syncthreads()
        if i_0 * uint32(16) + i_1 < uint64(M) and j_0 * uint32(16) + j_1 < uint64(N):
            for k_1 in range(uint32(24)):
                if k_0 * uint32(24) + k_1 < uint64(K):
                    C[i_0 * uint32(16) + i_1, j_0 * uint32(16) + j_1] += (
                        A_shared[i_1, k_1] * B_shared[k_1, j_1]
                    )
        # A_shared and B_shared, read by thread (i_1, j_1) above, are overwritten by other threads
        # in the next k_0
        cuda.syncthreads()


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    grid = (N + 15) // 16, (M + 15) // 16
    if min(grid) > 0:
        matmul_kernel[grid, (16, 16)](A, B, C, M, K, N)
