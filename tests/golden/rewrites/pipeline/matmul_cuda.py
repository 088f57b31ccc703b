import numpy as np
from numba import cuda
from numpy import uint32, uint64

from astile.intrinsics.async_copies import close_group, start_copy1, wait_all


@cuda.jit
def matmul_kernel(A, B, C, M, K, N):
    C_local = cuda.local.array((1,), np.float32)
    A_shared = cuda.shared.array((2, 16, 8), np.float32)
    B_shared = cuda.shared.array((2, 8, 16), np.float32)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_1 = uint32(cuda.threadIdx.y)
    j_1 = uint32(cuda.threadIdx.x)
    A_0 = uint32(cuda.threadIdx.y)
    A_1 = uint32(cuda.threadIdx.x)
    B_0 = uint32(cuda.threadIdx.y)
    B_1 = uint32(cuda.threadIdx.x)
    C_0 = uint32(cuda.threadIdx.y)
    C_1 = uint32(cuda.threadIdx.x)
    if i_0 * uint32(16) + i_1 < uint64(M) and j_0 * uint32(16) + j_1 < uint64(N):
        C_local[0] = 0.0
    for k_0 in range(min((K + 7) // 8, 1)):
        if (
            A_1 < uint32(8)
            and i_0 * uint32(16) + A_0 < uint64(M)
            and uint64(k_0) * uint32(8) + A_1 < uint64(K)
        ):
            start_copy1(
                A_shared,
                (uint64(k_0) % uint32(2), A_0, A_1),
                A,
                (i_0 * uint32(16) + A_0, uint64(k_0) * uint32(8) + A_1),
            )
        if (
            B_0 < uint32(8)
            and uint64(k_0) * uint32(8) + B_0 < uint64(K)
            and j_0 * uint32(16) + B_1 < uint64(N)
        ):
            start_copy1(
                B_shared,
                (uint64(k_0) % uint32(2), B_0, B_1),
                B,
                (uint64(k_0) * uint32(8) + B_0, j_0 * uint32(16) + B_1),
            )
        close_group()

    for k_0 in range((K + 7) // 8 - 1):
        wait_all()
        # A_shared, written by thread (A_0, A_1) above, is read by other threads below
        cuda.syncthreads()
        if (
            A_1 < uint32(8)
            and i_0 * uint32(16) + A_0 < uint64(M)
            and (uint64(k_0) + uint32(1)) * uint32(8) + A_1 < uint64(K)
        ):
            start_copy1(
                A_shared,
                ((uint64(k_0) + uint32(1)) % uint32(2), A_0, A_1),
                A,
                (i_0 * uint32(16) + A_0, (uint64(k_0) + uint32(1)) * uint32(8) + A_1),
            )
        if (
            B_0 < uint32(8)
            and (uint64(k_0) + uint32(1)) * uint32(8) + B_0 < uint64(K)
            and j_0 * uint32(16) + B_1 < uint64(N)
        ):
            start_copy1(
                B_shared,
                ((uint64(k_0) + uint32(1)) % uint32(2), B_0, B_1),
                B,
                ((uint64(k_0) + uint32(1)) * uint32(8) + B_0, j_0 * uint32(16) + B_1),
            )
        close_group()
        if i_0 * uint32(16) + i_1 < uint64(M) and j_0 * uint32(16) + j_1 < uint64(N):
            for k_1 in range(uint32(8)):
                C_local[0] += (
                    A_shared[uint64(k_0) % uint32(2), i_1, k_1]
                    * B_shared[uint64(k_0) % uint32(2), k_1, j_1]
                )

    wait_all()
    # A_shared, written by thread (A_0, A_1) above, is read by other threads below
    cuda.syncthreads()
    for k_0 in range(max((K + 7) // 8 - 1, 0), (K + 7) // 8):
        if i_0 * uint32(16) + i_1 < uint64(M) and j_0 * uint32(16) + j_1 < uint64(N):
            for k_1 in range(uint32(8)):
                if uint64(k_0) * uint32(8) + k_1 < uint64(K):
                    C_local[0] += (
                        A_shared[uint64(k_0) % uint32(2), i_1, k_1]
                        * B_shared[uint64(k_0) % uint32(2), k_1, j_1]
                    )

    if i_0 * uint32(16) + C_0 < uint64(M) and j_0 * uint32(16) + C_1 < uint64(N):
        C[i_0 * uint32(16) + C_0, j_0 * uint32(16) + C_1] = C_local[0]


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    grid = (N + 15) // 16, (M + 15) // 16
    if min(grid) > 0:
        matmul_kernel[grid, (16, 16)](A, B, C, M, K, N)
