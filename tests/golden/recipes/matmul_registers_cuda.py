import numpy as np
from numba import cuda
from numpy import int32, uint32, uint64

from astile.intrinsics.cuda import is_aligned, load4, store4


@cuda.jit
def matmul_kernel(A, B, C, M, K, N):
    B_shared = cuda.shared.array((8, 128), np.float32, alignment=16)
    # axis 1 is padded from 128 to 132 cells
    A_shared = cuda.shared.array((8, 132), np.float32, alignment=16)
    C_local = cuda.local.array((8, 8), np.float32)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_2 = uint32(cuda.threadIdx.y)
    j_2 = uint32(cuda.threadIdx.x)
    A_y = uint32(cuda.threadIdx.y)
    A_x = uint32(cuda.threadIdx.x)
    B_y = uint32(cuda.threadIdx.y)
    B_x = uint32(cuda.threadIdx.x)
    C_0_1 = uint32(cuda.threadIdx.y)
    C_1_1 = uint32(cuda.threadIdx.x)
    for i_1 in range(uint32(2)):
        for i_3 in range(uint32(4)):
            if i_0 * uint32(128) + i_1 * uint32(64) + i_2 * uint32(4) + i_3 < uint64(M):
                for j_1 in range(uint32(2)):
                    for j_3 in range(uint32(4)):
                        if j_0 * uint32(128) + j_1 * uint32(64) + j_2 * uint32(4) + j_3 < uint64(N):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] = 0.0

    if (
        i_0 * uint32(128) + uint32(128) <= uint64(M)
        and j_0 * uint32(128) + uint32(128) <= uint64(N)
        and uint64(K) % uint32(8) == uint32(0)
    ):
        for k_0 in range(int32(K // 8)):
            A_lane_0, A_lane_1, A_lane_2, A_lane_3 = load4(
                A,
                (
                    i_0 * uint32(128) + (A_y * uint32(16) + A_x) // uint32(2),
                    uint64(k_0) * uint32(8) + A_x % uint32(2) * uint32(4),
                ),
            )
            A_shared[A_x % uint32(2) * uint32(4), (A_y * uint32(16) + A_x) // uint32(2)] = A_lane_0
            A_shared[
                A_x % uint32(2) * uint32(4) + uint32(1), (A_y * uint32(16) + A_x) // uint32(2)
            ] = A_lane_1
            A_shared[
                A_x % uint32(2) * uint32(4) + uint32(2), (A_y * uint32(16) + A_x) // uint32(2)
            ] = A_lane_2
            A_shared[
                A_x % uint32(2) * uint32(4) + uint32(3), (A_y * uint32(16) + A_x) // uint32(2)
            ] = A_lane_3
            store4(
                B_shared,
                (
                    (B_y * uint32(16) + B_x) // uint32(32),
                    (B_y * uint32(16) + B_x) % uint32(32) * uint32(4),
                ),
                load4(
                    B,
                    (
                        uint64(k_0) * uint32(8) + (B_y * uint32(16) + B_x) // uint32(32),
                        j_0 * uint32(128) + (B_y * uint32(16) + B_x) % uint32(32) * uint32(4),
                    ),
                ),
            )
            # A_shared, written by thread (A_y, A_x) above, is read by other threads below
            cuda.syncthreads()
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[0, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[0, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[1, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[1, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[2, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[2, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[3, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[3, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[4, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[4, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[5, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[5, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[6, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[6, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[7, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[7, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            # A_shared and B_shared, read by thread (i_2, j_2) above, are overwritten by other
            # threads in the next k_0
            cuda.syncthreads()
    else:
        for k_0 in range(int32((K + 7) // 8)):
            for A_1_1 in range(uint32(4)):
                if (
                    i_0 * uint32(128) + (A_y * uint32(16) + A_x) // uint32(2) < uint64(M)
                    and uint64(k_0) * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1 < uint64(K)
                ):
                    A_shared[
                        A_x % uint32(2) * uint32(4) + A_1_1, (A_y * uint32(16) + A_x) // uint32(2)
                    ] = A[
                        i_0 * uint32(128) + (A_y * uint32(16) + A_x) // uint32(2),
                        uint64(k_0) * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1,
                    ]
            for B_1_1 in range(uint32(4)):
                if (
                    uint64(k_0) * uint32(8) + (B_y * uint32(16) + B_x) // uint32(32) < uint64(K)
                    and j_0 * uint32(128)
                    + (B_y * uint32(16) + B_x) % uint32(32) * uint32(4)
                    + B_1_1
                    < uint64(N)
                ):
                    B_shared[
                        (B_y * uint32(16) + B_x) // uint32(32),
                        (B_y * uint32(16) + B_x) % uint32(32) * uint32(4) + B_1_1,
                    ] = B[
                        uint64(k_0) * uint32(8) + (B_y * uint32(16) + B_x) // uint32(32),
                        j_0 * uint32(128)
                        + (B_y * uint32(16) + B_x) % uint32(32) * uint32(4)
                        + B_1_1,
                    ]
            # A_shared, written by thread (A_y, A_x) above, is read by other threads below
            cuda.syncthreads()
            for k_1 in range(uint32(8)):
                for i_1 in range(uint32(2)):
                    for i_3 in range(uint32(4)):
                        if i_0 * uint32(128) + i_1 * uint32(64) + i_2 * uint32(4) + i_3 < uint64(M):
                            for j_1 in range(uint32(2)):
                                for j_3 in range(uint32(4)):
                                    if (
                                        j_0 * uint32(128) + j_1 * uint32(64) + j_2 * uint32(4) + j_3
                                        < uint64(N)
                                        and uint64(k_0) * uint32(8) + k_1 < uint64(K)
                                    ):
                                        C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                            A_shared[k_1, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                            * B_shared[
                                                k_1, j_1 * uint32(64) + j_2 * uint32(4) + j_3
                                            ]
                                        )
            # A_shared and B_shared, read by thread (i_2, j_2) above, are overwritten by other
            # threads in the next k_0
            cuda.syncthreads()
    for C_0_0 in range(uint32(2)):
        for C_0_2 in range(uint32(4)):
            for C_1_0 in range(uint32(2)):
                if (
                    i_0 * uint32(128) + C_0_0 * uint32(64) + C_0_1 * uint32(4) + C_0_2 < uint64(M)
                    and j_0 * uint32(128) + C_1_0 * uint32(64) + C_1_1 * uint32(4) + uint32(3)
                    < uint64(N)
                ):
                    store4(
                        C,
                        (
                            i_0 * uint32(128) + C_0_0 * uint32(64) + C_0_1 * uint32(4) + C_0_2,
                            j_0 * uint32(128) + C_1_0 * uint32(64) + C_1_1 * uint32(4),
                        ),
                        (
                            C_local[C_0_0 * uint32(4) + C_0_2, C_1_0 * uint32(4)],
                            C_local[C_0_0 * uint32(4) + C_0_2, C_1_0 * uint32(4) + uint32(1)],
                            C_local[C_0_0 * uint32(4) + C_0_2, C_1_0 * uint32(4) + uint32(2)],
                            C_local[C_0_0 * uint32(4) + C_0_2, C_1_0 * uint32(4) + uint32(3)],
                        ),
                    )
                else:
                    for C_1_2 in range(uint32(4)):
                        if (
                            i_0 * uint32(128) + C_0_0 * uint32(64) + C_0_1 * uint32(4) + C_0_2
                            < uint64(M)
                            and j_0 * uint32(128) + C_1_0 * uint32(64) + C_1_1 * uint32(4) + C_1_2
                            < uint64(N)
                        ):
                            C[
                                i_0 * uint32(128) + C_0_0 * uint32(64) + C_0_1 * uint32(4) + C_0_2,
                                j_0 * uint32(128) + C_1_0 * uint32(64) + C_1_1 * uint32(4) + C_1_2,
                            ] = C_local[C_0_0 * uint32(4) + C_0_2, C_1_0 * uint32(4) + C_1_2]


@cuda.jit
def matmul_scalar_kernel(A, B, C, M, K, N):
    B_shared = cuda.shared.array((8, 128), np.float32)
    # axis 1 is padded from 128 to 132 cells
    A_shared = cuda.shared.array((8, 132), np.float32)
    C_local = cuda.local.array((8, 8), np.float32)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_2 = uint32(cuda.threadIdx.y)
    j_2 = uint32(cuda.threadIdx.x)
    A_y = uint32(cuda.threadIdx.y)
    A_x = uint32(cuda.threadIdx.x)
    B_y = uint32(cuda.threadIdx.y)
    B_x = uint32(cuda.threadIdx.x)
    C_0_1 = uint32(cuda.threadIdx.y)
    C_1_1 = uint32(cuda.threadIdx.x)
    for i_1 in range(uint32(2)):
        for i_3 in range(uint32(4)):
            if i_0 * uint32(128) + i_1 * uint32(64) + i_2 * uint32(4) + i_3 < uint64(M):
                for j_1 in range(uint32(2)):
                    for j_3 in range(uint32(4)):
                        if j_0 * uint32(128) + j_1 * uint32(64) + j_2 * uint32(4) + j_3 < uint64(N):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] = 0.0

    if (
        i_0 * uint32(128) + uint32(128) <= uint64(M)
        and j_0 * uint32(128) + uint32(128) <= uint64(N)
        and uint64(K) % uint32(8) == uint32(0)
    ):
        for k_0 in range(uint64(K) // uint32(8)):
            for A_1_1 in range(uint32(4)):
                A_shared[
                    A_x % uint32(2) * uint32(4) + A_1_1, (A_y * uint32(16) + A_x) // uint32(2)
                ] = A[
                    i_0 * uint32(128) + (A_y * uint32(16) + A_x) // uint32(2),
                    k_0 * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1,
                ]
            for B_1_1 in range(uint32(4)):
                B_shared[
                    (B_y * uint32(16) + B_x) // uint32(32),
                    (B_y * uint32(16) + B_x) % uint32(32) * uint32(4) + B_1_1,
                ] = B[
                    k_0 * uint32(8) + (B_y * uint32(16) + B_x) // uint32(32),
                    j_0 * uint32(128) + (B_y * uint32(16) + B_x) % uint32(32) * uint32(4) + B_1_1,
                ]
            # A_shared, written by thread (A_y, A_x) above, is read by other threads below
            cuda.syncthreads()
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[0, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[0, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[1, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[1, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[2, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[2, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[3, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[3, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[4, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[4, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[5, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[5, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[6, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[6, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            for i_1 in range(uint32(2)):
                for i_3 in range(uint32(4)):
                    for j_1 in range(uint32(2)):
                        for j_3 in range(uint32(4)):
                            C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                A_shared[7, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                * B_shared[7, j_1 * uint32(64) + j_2 * uint32(4) + j_3]
                            )
            # A_shared and B_shared, read by thread (i_2, j_2) above, are overwritten by other
            # threads in the next k_0
            cuda.syncthreads()
    else:
        for k_0 in range((uint64(K) + uint32(7)) // uint32(8)):
            for A_1_1 in range(uint32(4)):
                if (
                    i_0 * uint32(128) + (A_y * uint32(16) + A_x) // uint32(2) < uint64(M)
                    and k_0 * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1 < uint64(K)
                ):
                    A_shared[
                        A_x % uint32(2) * uint32(4) + A_1_1, (A_y * uint32(16) + A_x) // uint32(2)
                    ] = A[
                        i_0 * uint32(128) + (A_y * uint32(16) + A_x) // uint32(2),
                        k_0 * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1,
                    ]
            for B_1_1 in range(uint32(4)):
                if (
                    k_0 * uint32(8) + (B_y * uint32(16) + B_x) // uint32(32) < uint64(K)
                    and j_0 * uint32(128)
                    + (B_y * uint32(16) + B_x) % uint32(32) * uint32(4)
                    + B_1_1
                    < uint64(N)
                ):
                    B_shared[
                        (B_y * uint32(16) + B_x) // uint32(32),
                        (B_y * uint32(16) + B_x) % uint32(32) * uint32(4) + B_1_1,
                    ] = B[
                        k_0 * uint32(8) + (B_y * uint32(16) + B_x) // uint32(32),
                        j_0 * uint32(128)
                        + (B_y * uint32(16) + B_x) % uint32(32) * uint32(4)
                        + B_1_1,
                    ]
            # A_shared, written by thread (A_y, A_x) above, is read by other threads below
            cuda.syncthreads()
            for k_1 in range(uint32(8)):
                for i_1 in range(uint32(2)):
                    for i_3 in range(uint32(4)):
                        if i_0 * uint32(128) + i_1 * uint32(64) + i_2 * uint32(4) + i_3 < uint64(M):
                            for j_1 in range(uint32(2)):
                                for j_3 in range(uint32(4)):
                                    if (
                                        j_0 * uint32(128) + j_1 * uint32(64) + j_2 * uint32(4) + j_3
                                        < uint64(N)
                                        and k_0 * uint32(8) + k_1 < uint64(K)
                                    ):
                                        C_local[i_1 * uint32(4) + i_3, j_1 * uint32(4) + j_3] += (
                                            A_shared[k_1, i_1 * uint32(64) + i_2 * uint32(4) + i_3]
                                            * B_shared[
                                                k_1, j_1 * uint32(64) + j_2 * uint32(4) + j_3
                                            ]
                                        )
            # A_shared and B_shared, read by thread (i_2, j_2) above, are overwritten by other
            # threads in the next k_0
            cuda.syncthreads()
    for C_0_0 in range(uint32(2)):
        for C_0_2 in range(uint32(4)):
            for C_1_0 in range(uint32(2)):
                for C_1_2 in range(uint32(4)):
                    if (
                        i_0 * uint32(128) + C_0_0 * uint32(64) + C_0_1 * uint32(4) + C_0_2 < uint64(
                            M
                        )
                        and j_0 * uint32(128) + C_1_0 * uint32(64) + C_1_1 * uint32(4) + C_1_2
                        < uint64(N)
                    ):
                        C[
                            i_0 * uint32(128) + C_0_0 * uint32(64) + C_0_1 * uint32(4) + C_0_2,
                            j_0 * uint32(128) + C_1_0 * uint32(64) + C_1_1 * uint32(4) + C_1_2,
                        ] = C_local[C_0_0 * uint32(4) + C_0_2, C_1_0 * uint32(4) + C_1_2]


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    grid = (N + 127) // 128, (M + 127) // 128
    if min(grid) > 0:
        if is_aligned(16, A, B, C):
            matmul_kernel[grid, (16, 16)](A, B, C, M, K, N)
        else:
            matmul_scalar_kernel[grid, (16, 16)](A, B, C, M, K, N)
