import numpy as np
from numba import cuda
from numpy import int32, uint32, uint64

from astile.intrinsics.async_copies import close_group, start_copy1, wait_all, wait_all_but_1
from astile.intrinsics.cuda import is_aligned, load4, store2, store4


@cuda.jit
def matmul_kernel(A, B, C, M, K, N):
    C_local = cuda.local.array((4, 2), np.float32)
    # axis 1 is padded from 32 to 36 cells
    A_shared = cuda.shared.array((3, 8, 36), np.float32, alignment=16)
    B_shared = cuda.shared.array((3, 8, 16), np.float32, alignment=16)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_1 = uint32(cuda.threadIdx.y)
    j_1 = uint32(cuda.threadIdx.x)
    A_y = uint32(cuda.threadIdx.y)
    A_x = uint32(cuda.threadIdx.x)
    B_0 = uint32(cuda.threadIdx.y)
    B_1_0 = uint32(cuda.threadIdx.x)
    C_0_0 = uint32(cuda.threadIdx.y)
    C_1_0 = uint32(cuda.threadIdx.x)
    for i_2 in range(uint32(4)):
        if i_0 * uint32(32) + i_1 * uint32(4) + i_2 < uint64(M):
            for j_2 in range(uint32(2)):
                if j_0 * uint32(16) + j_1 * uint32(2) + j_2 < uint64(N):
                    C_local[i_2, j_2] = 0.0

    for k_0 in range(min((K + 7) // 8, 2)):
        for A_1_1 in range(uint32(4)):
            if (
                i_0 * uint32(32) + (A_y * uint32(8) + A_x) // uint32(2) < uint64(M)
                and uint64(k_0) * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1 < uint64(K)
            ):
                A_shared[
                    uint64(k_0) % uint32(3),
                    A_x % uint32(2) * uint32(4) + A_1_1,
                    (A_y * uint32(8) + A_x) // uint32(2),
                ] = A[
                    i_0 * uint32(32) + (A_y * uint32(8) + A_x) // uint32(2),
                    uint64(k_0) * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1,
                ]
        if B_1_0 < uint32(4):
            for B_1_1 in range(uint32(4)):
                if (
                    uint64(k_0) * uint32(8) + B_0 < uint64(K)
                    and j_0 * uint32(16) + B_1_0 * uint32(4) + B_1_1 < uint64(N)
                ):
                    B_shared[uint64(k_0) % uint32(3), B_0, B_1_0 * uint32(4) + B_1_1] = B[
                        uint64(k_0) * uint32(8) + B_0, j_0 * uint32(16) + B_1_0 * uint32(4) + B_1_1
                    ]

    # A_shared, written by thread (A_y, A_x) above, is read by other threads below
    cuda.syncthreads()
    if (
        i_0 * uint32(32) + uint32(32) <= uint64(M)
        and j_0 * uint32(16) + uint32(16) <= uint64(N)
        and uint64(K) % uint32(8) == uint32(0)
    ):
        for k_0 in range(int32(K // 8 - 2)):
            A_lane_0, A_lane_1, A_lane_2, A_lane_3 = load4(
                A,
                (
                    i_0 * uint32(32) + (A_y * uint32(8) + A_x) // uint32(2),
                    uint64(k_0) * uint32(8) + A_x % uint32(2) * uint32(4) + uint32(16),
                ),
            )
            A_shared[
                (uint64(k_0) + uint32(2)) % uint32(3),
                A_x % uint32(2) * uint32(4),
                (A_y * uint32(8) + A_x) // uint32(2),
            ] = A_lane_0
            A_shared[
                (uint64(k_0) + uint32(2)) % uint32(3),
                A_x % uint32(2) * uint32(4) + uint32(1),
                (A_y * uint32(8) + A_x) // uint32(2),
            ] = A_lane_1
            A_shared[
                (uint64(k_0) + uint32(2)) % uint32(3),
                A_x % uint32(2) * uint32(4) + uint32(2),
                (A_y * uint32(8) + A_x) // uint32(2),
            ] = A_lane_2
            A_shared[
                (uint64(k_0) + uint32(2)) % uint32(3),
                A_x % uint32(2) * uint32(4) + uint32(3),
                (A_y * uint32(8) + A_x) // uint32(2),
            ] = A_lane_3
            if B_1_0 < uint32(4):
                store4(
                    B_shared,
                    ((uint64(k_0) + uint32(2)) % uint32(3), B_0, B_1_0 * uint32(4)),
                    load4(
                        B,
                        (
                            (uint64(k_0) + uint32(2)) * uint32(8) + B_0,
                            j_0 * uint32(16) + B_1_0 * uint32(4),
                        ),
                    ),
                )
            for k_1 in range(uint32(8)):
                for i_2 in range(uint32(4)):
                    for j_2 in range(uint32(2)):
                        C_local[i_2, j_2] += (
                            A_shared[uint64(k_0) % uint32(3), k_1, i_1 * uint32(4) + i_2]
                            * B_shared[uint64(k_0) % uint32(3), k_1, j_1 * uint32(2) + j_2]
                        )
            # A_shared, written by thread (A_y, A_x) above, is read by other threads below
            cuda.syncthreads()
    else:
        for k_0 in range(int32((K + 7) // 8 - 2)):
            for A_1_1 in range(uint32(4)):
                if (
                    i_0 * uint32(32) + (A_y * uint32(8) + A_x) // uint32(2) < uint64(M)
                    and (
                        uint64(k_0) + uint32(2)
                    ) * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1 < uint64(K)
                ):
                    A_shared[
                        (uint64(k_0) + uint32(2)) % uint32(3),
                        A_x % uint32(2) * uint32(4) + A_1_1,
                        (A_y * uint32(8) + A_x) // uint32(2),
                    ] = A[
                        i_0 * uint32(32) + (A_y * uint32(8) + A_x) // uint32(2),
                        (uint64(k_0) + uint32(2)) * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1,
                    ]
            if B_1_0 < uint32(4):
                for B_1_1 in range(uint32(4)):
                    if (
                        (uint64(k_0) + uint32(2)) * uint32(8) + B_0 < uint64(K)
                        and j_0 * uint32(16) + B_1_0 * uint32(4) + B_1_1 < uint64(N)
                    ):
                        B_shared[
                            (uint64(k_0) + uint32(2)) % uint32(3), B_0, B_1_0 * uint32(4) + B_1_1
                        ] = B[
                            (uint64(k_0) + uint32(2)) * uint32(8) + B_0,
                            j_0 * uint32(16) + B_1_0 * uint32(4) + B_1_1,
                        ]
            for k_1 in range(uint32(8)):
                for i_2 in range(uint32(4)):
                    if i_0 * uint32(32) + i_1 * uint32(4) + i_2 < uint64(M):
                        for j_2 in range(uint32(2)):
                            if j_0 * uint32(16) + j_1 * uint32(2) + j_2 < uint64(N):
                                C_local[i_2, j_2] += (
                                    A_shared[uint64(k_0) % uint32(3), k_1, i_1 * uint32(4) + i_2]
                                    * B_shared[uint64(k_0) % uint32(3), k_1, j_1 * uint32(2) + j_2]
                                )
            # A_shared, written by thread (A_y, A_x) above, is read by other threads below
            cuda.syncthreads()
    for k_0 in range(max((K + 7) // 8 - 2, 0), (K + 7) // 8):
        for k_1 in range(uint32(8)):
            for i_2 in range(uint32(4)):
                if i_0 * uint32(32) + i_1 * uint32(4) + i_2 < uint64(M):
                    for j_2 in range(uint32(2)):
                        if (
                            j_0 * uint32(16) + j_1 * uint32(2) + j_2 < uint64(N)
                            and uint64(k_0) * uint32(8) + k_1 < uint64(K)
                        ):
                            C_local[i_2, j_2] += (
                                A_shared[uint64(k_0) % uint32(3), k_1, i_1 * uint32(4) + i_2]
                                * B_shared[uint64(k_0) % uint32(3), k_1, j_1 * uint32(2) + j_2]
                            )

    for C_0_1 in range(uint32(4)):
        if (
            i_0 * uint32(32) + C_0_0 * uint32(4) + C_0_1 < uint64(M)
            and j_0 * uint32(16) + C_1_0 * uint32(2) + uint32(1) < uint64(N)
        ):
            store2(
                C,
                (
                    i_0 * uint32(32) + C_0_0 * uint32(4) + C_0_1,
                    j_0 * uint32(16) + C_1_0 * uint32(2),
                ),
                (C_local[C_0_1, 0], C_local[C_0_1, 1]),
            )
        else:
            for C_1_1 in range(uint32(2)):
                if (
                    i_0 * uint32(32) + C_0_0 * uint32(4) + C_0_1 < uint64(M)
                    and j_0 * uint32(16) + C_1_0 * uint32(2) + C_1_1 < uint64(N)
                ):
                    C[
                        i_0 * uint32(32) + C_0_0 * uint32(4) + C_0_1,
                        j_0 * uint32(16) + C_1_0 * uint32(2) + C_1_1,
                    ] = C_local[C_0_1, C_1_1]


@cuda.jit
def matmul_scalar_kernel(A, B, C, M, K, N):
    C_local = cuda.local.array((4, 2), np.float32)
    # axis 1 is padded from 32 to 36 cells
    A_shared = cuda.shared.array((3, 8, 36), np.float32)
    B_shared = cuda.shared.array((3, 8, 16), np.float32)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_1 = uint32(cuda.threadIdx.y)
    j_1 = uint32(cuda.threadIdx.x)
    A_y = uint32(cuda.threadIdx.y)
    A_x = uint32(cuda.threadIdx.x)
    B_0 = uint32(cuda.threadIdx.y)
    B_1_0 = uint32(cuda.threadIdx.x)
    C_0_0 = uint32(cuda.threadIdx.y)
    C_1_0 = uint32(cuda.threadIdx.x)
    for i_2 in range(uint32(4)):
        if i_0 * uint32(32) + i_1 * uint32(4) + i_2 < uint64(M):
            for j_2 in range(uint32(2)):
                if j_0 * uint32(16) + j_1 * uint32(2) + j_2 < uint64(N):
                    C_local[i_2, j_2] = 0.0

    for k_0 in range(min((K + 7) // 8, 2)):
        for A_1_1 in range(uint32(4)):
            if (
                i_0 * uint32(32) + (A_y * uint32(8) + A_x) // uint32(2) < uint64(M)
                and uint64(k_0) * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1 < uint64(K)
            ):
                start_copy1(
                    A_shared,
                    (
                        uint64(k_0) % uint32(3),
                        A_x % uint32(2) * uint32(4) + A_1_1,
                        (A_y * uint32(8) + A_x) // uint32(2),
                    ),
                    A,
                    (
                        i_0 * uint32(32) + (A_y * uint32(8) + A_x) // uint32(2),
                        uint64(k_0) * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1,
                    ),
                )
        if B_1_0 < uint32(4):
            for B_1_1 in range(uint32(4)):
                if (
                    uint64(k_0) * uint32(8) + B_0 < uint64(K)
                    and j_0 * uint32(16) + B_1_0 * uint32(4) + B_1_1 < uint64(N)
                ):
                    start_copy1(
                        B_shared,
                        (uint64(k_0) % uint32(3), B_0, B_1_0 * uint32(4) + B_1_1),
                        B,
                        (
                            uint64(k_0) * uint32(8) + B_0,
                            j_0 * uint32(16) + B_1_0 * uint32(4) + B_1_1,
                        ),
                    )
        close_group()

    wait_all_but_1()
    # A_shared, written by thread (A_y, A_x) above, is read by other threads below
    cuda.syncthreads()
    if (
        i_0 * uint32(32) + uint32(32) <= uint64(M)
        and j_0 * uint32(16) + uint32(16) <= uint64(N)
        and uint64(K) % uint32(8) == uint32(0)
    ):
        for k_0 in range(K // 8 - 2):
            for A_1_1 in range(uint32(4)):
                start_copy1(
                    A_shared,
                    (
                        (uint64(k_0) + uint32(2)) % uint32(3),
                        A_x % uint32(2) * uint32(4) + A_1_1,
                        (A_y * uint32(8) + A_x) // uint32(2),
                    ),
                    A,
                    (
                        i_0 * uint32(32) + (A_y * uint32(8) + A_x) // uint32(2),
                        (uint64(k_0) + uint32(2)) * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1,
                    ),
                )
            if B_1_0 < uint32(4):
                for B_1_1 in range(uint32(4)):
                    start_copy1(
                        B_shared,
                        ((uint64(k_0) + uint32(2)) % uint32(3), B_0, B_1_0 * uint32(4) + B_1_1),
                        B,
                        (
                            (uint64(k_0) + uint32(2)) * uint32(8) + B_0,
                            j_0 * uint32(16) + B_1_0 * uint32(4) + B_1_1,
                        ),
                    )
            close_group()
            for k_1 in range(uint32(8)):
                for i_2 in range(uint32(4)):
                    for j_2 in range(uint32(2)):
                        C_local[i_2, j_2] += (
                            A_shared[uint64(k_0) % uint32(3), k_1, i_1 * uint32(4) + i_2]
                            * B_shared[uint64(k_0) % uint32(3), k_1, j_1 * uint32(2) + j_2]
                        )
            wait_all_but_1()
            # A_shared, written by thread (A_y, A_x) above, is read by other threads below
            cuda.syncthreads()
    else:
        for k_0 in range((K + 7) // 8 - 2):
            for A_1_1 in range(uint32(4)):
                if (
                    i_0 * uint32(32) + (A_y * uint32(8) + A_x) // uint32(2) < uint64(M)
                    and (
                        uint64(k_0) + uint32(2)
                    ) * uint32(8) + A_x % uint32(2) * uint32(4) + A_1_1 < uint64(K)
                ):
                    start_copy1(
                        A_shared,
                        (
                            (uint64(k_0) + uint32(2)) % uint32(3),
                            A_x % uint32(2) * uint32(4) + A_1_1,
                            (A_y * uint32(8) + A_x) // uint32(2),
                        ),
                        A,
                        (
                            i_0 * uint32(32) + (A_y * uint32(8) + A_x) // uint32(2),
                            (uint64(k_0) + uint32(2)) * uint32(8)
                            + A_x % uint32(2) * uint32(4)
                            + A_1_1,
                        ),
                    )
            if B_1_0 < uint32(4):
                for B_1_1 in range(uint32(4)):
                    if (
                        (uint64(k_0) + uint32(2)) * uint32(8) + B_0 < uint64(K)
                        and j_0 * uint32(16) + B_1_0 * uint32(4) + B_1_1 < uint64(N)
                    ):
                        start_copy1(
                            B_shared,
                            ((uint64(k_0) + uint32(2)) % uint32(3), B_0, B_1_0 * uint32(4) + B_1_1),
                            B,
                            (
                                (uint64(k_0) + uint32(2)) * uint32(8) + B_0,
                                j_0 * uint32(16) + B_1_0 * uint32(4) + B_1_1,
                            ),
                        )
            close_group()
            for k_1 in range(uint32(8)):
                for i_2 in range(uint32(4)):
                    if i_0 * uint32(32) + i_1 * uint32(4) + i_2 < uint64(M):
                        for j_2 in range(uint32(2)):
                            if j_0 * uint32(16) + j_1 * uint32(2) + j_2 < uint64(N):
                                C_local[i_2, j_2] += (
                                    A_shared[uint64(k_0) % uint32(3), k_1, i_1 * uint32(4) + i_2]
                                    * B_shared[uint64(k_0) % uint32(3), k_1, j_1 * uint32(2) + j_2]
                                )
            wait_all_but_1()
            # A_shared, written by thread (A_y, A_x) above, is read by other threads below
            cuda.syncthreads()
    wait_all()
    # copies to tiles have arrived for all threads
    cuda.syncthreads()
    for k_0 in range(max((K + 7) // 8 - 2, 0), (K + 7) // 8):
        for k_1 in range(uint32(8)):
            for i_2 in range(uint32(4)):
                if i_0 * uint32(32) + i_1 * uint32(4) + i_2 < uint64(M):
                    for j_2 in range(uint32(2)):
                        if (
                            j_0 * uint32(16) + j_1 * uint32(2) + j_2 < uint64(N)
                            and uint64(k_0) * uint32(8) + k_1 < uint64(K)
                        ):
                            C_local[i_2, j_2] += (
                                A_shared[uint64(k_0) % uint32(3), k_1, i_1 * uint32(4) + i_2]
                                * B_shared[uint64(k_0) % uint32(3), k_1, j_1 * uint32(2) + j_2]
                            )

    for C_0_1 in range(uint32(4)):
        for C_1_1 in range(uint32(2)):
            if (
                i_0 * uint32(32) + C_0_0 * uint32(4) + C_0_1 < uint64(M)
                and j_0 * uint32(16) + C_1_0 * uint32(2) + C_1_1 < uint64(N)
            ):
                C[
                    i_0 * uint32(32) + C_0_0 * uint32(4) + C_0_1,
                    j_0 * uint32(16) + C_1_0 * uint32(2) + C_1_1,
                ] = C_local[C_0_1, C_1_1]


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    grid = (N + 15) // 16, (M + 31) // 32
    if min(grid) > 0:
        if is_aligned(16, A, B, C):
            matmul_kernel[grid, (8, 8)](A, B, C, M, K, N)
        else:
            matmul_scalar_kernel[grid, (8, 8)](A, B, C, M, K, N)
