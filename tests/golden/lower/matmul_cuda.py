import numpy as np
from numba import cuda
from numpy import uint32, uint64


@cuda.jit
def matmul_kernel(A, B, C, M, K, N):
    A_shared = cuda.shared.array((16, 16), np.float32)
    B_shared = cuda.shared.array((16, 16), np.float32)
    acc = cuda.local.array((1,), np.float32)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_1 = uint32(cuda.threadIdx.y)
    j_1 = uint32(cuda.threadIdx.x)
    acc[0] = 0.0
    for k_0 in range((uint64(K) + uint32(15)) // uint32(16)):
        # A_shared[i_1, k_1] is read above, A_shared[i_1, k_1] is written below
        cuda.syncthreads()
        k_1 = uint32(cuda.threadIdx.x)
        if i_0 * uint32(16) + i_1 < uint64(M) and k_0 * uint32(16) + k_1 < uint64(K):
            A_shared[i_1, k_1] = A[i_0 * uint32(16) + i_1, k_0 * uint32(16) + k_1]
        k_1 = uint32(cuda.threadIdx.y)
        if k_0 * uint32(16) + k_1 < uint64(K) and j_0 * uint32(16) + j_1 < uint64(N):
            B_shared[k_1, j_1] = B[k_0 * uint32(16) + k_1, j_0 * uint32(16) + j_1]
        # A_shared[i_1, k_1] is written above, A_shared[i_1, k_1] is read below
        cuda.syncthreads()
        if i_0 * uint32(16) + i_1 < uint64(M) and j_0 * uint32(16) + j_1 < uint64(N):
            for k_1 in range(min(uint32(16), uint64(K) - k_0 * uint32(16))):
                acc[0] += A_shared[i_1, k_1] * B_shared[k_1, j_1]

    if i_0 * uint32(16) + i_1 < uint64(M) and j_0 * uint32(16) + j_1 < uint64(N):
        C[i_0 * uint32(16) + i_1, j_0 * uint32(16) + j_1] = acc[0]


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    grid = (N + 15) // 16, (M + 15) // 16
    if min(grid) > 0:
        matmul_kernel[grid, (16, 16)](A, B, C, M, K, N)
