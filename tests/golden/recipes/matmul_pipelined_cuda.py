import numpy as np
from numba import cuda
from numpy import uint32, uint64


@cuda.jit
def matmul_kernel(A, B, C, M, K, N):
    C_local = cuda.local.array((4, 2), np.float32)
    A_shared = cuda.shared.array((3, 32, 8), np.float32)
    B_shared = cuda.shared.array((3, 8, 16), np.float32)
    A_shared_local = cuda.local.array((4, 1), np.float32)
    B_shared_local = cuda.local.array((1, 2), np.float32)
    A_shared_local_1 = cuda.local.array((4, 1), np.float32)
    B_shared_local_1 = cuda.local.array((1, 2), np.float32)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_1 = uint32(cuda.threadIdx.y)
    j_1 = uint32(cuda.threadIdx.x)
    A_0_lane = uint32(cuda.threadIdx.y)
    A_1 = uint32(cuda.threadIdx.x)
    B_0 = uint32(cuda.threadIdx.y)
    B_1_lane = uint32(cuda.threadIdx.x)
    C_0_0 = uint32(cuda.threadIdx.y)
    C_1_0 = uint32(cuda.threadIdx.x)
    for i_2 in range(uint32(4)):
        if i_0 * uint32(32) + i_1 * uint32(4) + i_2 < uint64(M):
            for j_2 in range(uint32(2)):
                if j_0 * uint32(16) + j_1 * uint32(2) + j_2 < uint64(N):
                    C_local[i_2, j_2] = 0.0

    for k_0 in range(min((K + 7) // 8, 2)):
        for A_0_turn in range(uint32(4)):
            if (
                i_0 * uint32(32) + A_0_turn * uint32(8) + A_0_lane < uint64(M)
                and uint64(k_0) * uint32(8) + A_1 < uint64(K)
            ):
                A_shared[uint64(k_0) % uint32(3), A_0_turn * uint32(8) + A_0_lane, A_1] = A[
                    i_0 * uint32(32) + A_0_turn * uint32(8) + A_0_lane,
                    uint64(k_0) * uint32(8) + A_1,
                ]
        for B_1_turn in range(uint32(2)):
            if (
                uint64(k_0) * uint32(8) + B_0 < uint64(K)
                and j_0 * uint32(16) + B_1_turn * uint32(8) + B_1_lane < uint64(N)
            ):
                B_shared[uint64(k_0) % uint32(3), B_0, B_1_turn * uint32(8) + B_1_lane] = B[
                    uint64(k_0) * uint32(8) + B_0,
                    j_0 * uint32(16) + B_1_turn * uint32(8) + B_1_lane,
                ]

    for k_0 in range((K + 7) // 8 - 2):
        # A_shared, written by thread (A_0_lane, A_1) above, is read by other threads below
        cuda.syncthreads()
        for A_0_turn in range(uint32(4)):
            if (
                i_0 * uint32(32) + A_0_turn * uint32(8) + A_0_lane < uint64(M)
                and (uint64(k_0) + uint32(2)) * uint32(8) + A_1 < uint64(K)
            ):
                A_shared[
                    (uint64(k_0) + uint32(2)) % uint32(3), A_0_turn * uint32(8) + A_0_lane, A_1
                ] = A[
                    i_0 * uint32(32) + A_0_turn * uint32(8) + A_0_lane,
                    (uint64(k_0) + uint32(2)) * uint32(8) + A_1,
                ]
        for B_1_turn in range(uint32(2)):
            if (
                (uint64(k_0) + uint32(2)) * uint32(8) + B_0 < uint64(K)
                and j_0 * uint32(16) + B_1_turn * uint32(8) + B_1_lane < uint64(N)
            ):
                B_shared[
                    (uint64(k_0) + uint32(2)) % uint32(3), B_0, B_1_turn * uint32(8) + B_1_lane
                ] = B[
                    (uint64(k_0) + uint32(2)) * uint32(8) + B_0,
                    j_0 * uint32(16) + B_1_turn * uint32(8) + B_1_lane,
                ]
        for k_1 in range(uint32(8)):
            for A_shared_0 in range(uint32(4)):
                if i_0 * uint32(32) + i_1 * uint32(4) + A_shared_0 < uint64(M):
                    A_shared_local[A_shared_0, 0] = A_shared[
                        uint64(k_0) % uint32(3), i_1 * uint32(4) + A_shared_0, k_1
                    ]
            for B_shared_1 in range(uint32(2)):
                if j_0 * uint32(16) + j_1 * uint32(2) + B_shared_1 < uint64(N):
                    B_shared_local[0, B_shared_1] = B_shared[
                        uint64(k_0) % uint32(3), k_1, j_1 * uint32(2) + B_shared_1
                    ]
            for i_2 in range(uint32(4)):
                if i_0 * uint32(32) + i_1 * uint32(4) + i_2 < uint64(M):
                    for j_2 in range(uint32(2)):
                        if j_0 * uint32(16) + j_1 * uint32(2) + j_2 < uint64(N):
                            C_local[i_2, j_2] += A_shared_local[i_2, 0] * B_shared_local[0, j_2]

    # A_shared, written by thread (A_0_lane, A_1) above, is read by other threads below
    cuda.syncthreads()
    for k_0 in range(max((K + 7) // 8 - 2, 0), (K + 7) // 8):
        for k_1 in range(uint32(8)):
            for A_shared_0 in range(uint32(4)):
                if (
                    uint64(k_0) * uint32(8) + k_1 < uint64(K)
                    and i_0 * uint32(32) + i_1 * uint32(4) + A_shared_0 < uint64(M)
                ):
                    A_shared_local_1[A_shared_0, 0] = A_shared[
                        uint64(k_0) % uint32(3), i_1 * uint32(4) + A_shared_0, k_1
                    ]
            for B_shared_1 in range(uint32(2)):
                if (
                    uint64(k_0) * uint32(8) + k_1 < uint64(K)
                    and j_0 * uint32(16) + j_1 * uint32(2) + B_shared_1 < uint64(N)
                ):
                    B_shared_local_1[0, B_shared_1] = B_shared[
                        uint64(k_0) % uint32(3), k_1, j_1 * uint32(2) + B_shared_1
                    ]
            for i_2 in range(uint32(4)):
                if i_0 * uint32(32) + i_1 * uint32(4) + i_2 < uint64(M):
                    for j_2 in range(uint32(2)):
                        if (
                            j_0 * uint32(16) + j_1 * uint32(2) + j_2 < uint64(N)
                            and uint64(k_0) * uint32(8) + k_1 < uint64(K)
                        ):
                            C_local[i_2, j_2] += A_shared_local_1[i_2, 0] * B_shared_local_1[0, j_2]

    for C_0_1 in range(uint32(4)):
        for C_1_1 in range(uint32(2)):
            if (
                i_0 * uint32(32) + C_0_0 * uint32(4) + C_0_1 < uint64(M)
                and j_0 * uint32(16) + C_1_0 * uint32(2) + C_1_1 < uint64(N)
            ):
                C[
                    i_0 * uint32(32) + C_0_0 * uint32(4) + C_0_1,
                    j_0 * uint32(16) + C_1_0 * uint32(2) + C_1_1,
                ] = C_local[
                    C_0_1, C_1_1
                ]


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    grid = (N + 15) // 16, (M + 31) // 32
    if min(grid) > 0:
        matmul_kernel[grid, (8, 8)](A, B, C, M, K, N)
