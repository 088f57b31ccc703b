import numpy as np
from numba import cuda
from numpy import int32, uint32, uint64

from astile.intrinsics.async_copies import close_group, start_copy8, wait_all
from astile.intrinsics.cuda import is_aligned, store2
from astile.intrinsics.matrix_units import load_columns4, load_rows4, multiply_add_f16


@cuda.jit
def half_matmul_C_kernel(A, B, C, K):
    C_local = cuda.local.array((4, 2, 4, 2), np.float32)
    A_shared = cuda.shared.array((2, 128, 4, 8), np.float16, alignment=16)
    B_shared = cuda.shared.array((2, 32, 16, 8), np.float16, alignment=16)
    A_shared_part = cuda.local.array((4, 4), np.uint32)
    B_shared_part = cuda.local.array((4, 2), np.uint32)
    lane = uint32(cuda.laneid)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    A_z = uint32(cuda.threadIdx.z)
    A_y = uint32(cuda.threadIdx.y)
    A_x = uint32(cuda.threadIdx.x)
    B_z = uint32(cuda.threadIdx.z)
    B_y = uint32(cuda.threadIdx.y)
    B_x = uint32(cuda.threadIdx.x)
    i_warp_j_warp_fused = uint32(cuda.threadIdx.z)
    i_warp_j_warp_fused_2 = uint32(cuda.threadIdx.z)
    i_row_2 = uint32(cuda.threadIdx.y)
    j_pair_2 = uint32(cuda.threadIdx.x)
    for i_tile_1 in range(uint32(4)):
        for j_tile_1 in range(uint32(4)):
            for i_half_1 in range(uint32(2)):
                for j_cell_1 in range(uint32(2)):
                    C_local[i_tile_1, i_half_1, j_tile_1, j_cell_1] = 0.0

    for k_0 in range(min(K // 32, 1)):
        for A_turn in range(uint32(2)):
            start_copy8(
                A_shared,
                (
                    uint64(k_0) % uint32(2),
                    A_turn * uint32(64) + A_z * uint32(8) + A_y,
                    (A_x + A_y // uint32(2)) % uint32(4),
                    0,
                ),
                A,
                (
                    i_0 * uint32(128) + A_turn * uint32(64) + A_z * uint32(8) + A_y,
                    uint64(k_0) * uint32(32) + A_x * uint32(8),
                ),
            )
        for B_turn in range(uint32(2)):
            start_copy8(
                B_shared,
                (
                    uint64(k_0) % uint32(2),
                    B_turn * uint32(16) + B_z * uint32(2) + (B_y * uint32(4) + B_x) // uint32(16),
                    (
                        (B_y * uint32(4) + B_x) % uint32(16)
                        + B_z * uint32(2)
                        + (B_y * uint32(4) + B_x) // uint32(16)
                    ) % uint32(16),
                    0,
                ),
                B,
                (
                    uint64(k_0) * uint32(32)
                    + (
                        B_turn * uint32(256) + B_z * uint32(32) + B_y * uint32(4) + B_x
                    ) // uint32(16),
                    j_0 * uint32(128) + (B_y * uint32(4) + B_x) % uint32(16) * uint32(8),
                ),
            )
        close_group()

    for k_0 in range(int32(K // 32 - 1)):
        wait_all()
        # A_shared, written by thread (A_z, A_y, A_x) above, is read by other threads below
        cuda.syncthreads()
        for A_turn in range(uint32(2)):
            start_copy8(
                A_shared,
                (
                    (uint64(k_0) + uint32(1)) % uint32(2),
                    A_turn * uint32(64) + A_z * uint32(8) + A_y,
                    (A_x + A_y // uint32(2)) % uint32(4),
                    0,
                ),
                A,
                (
                    i_0 * uint32(128) + A_turn * uint32(64) + A_z * uint32(8) + A_y,
                    uint64(k_0) * uint32(32) + A_x * uint32(8) + uint32(32),
                ),
            )
        for B_turn in range(uint32(2)):
            start_copy8(
                B_shared,
                (
                    (uint64(k_0) + uint32(1)) % uint32(2),
                    B_turn * uint32(16) + B_z * uint32(2) + (B_y * uint32(4) + B_x) // uint32(16),
                    (
                        (B_y * uint32(4) + B_x) % uint32(16)
                        + B_z * uint32(2)
                        + (B_y * uint32(4) + B_x) // uint32(16)
                    ) % uint32(16),
                    0,
                ),
                B,
                (
                    (uint64(k_0) + uint32(1)) * uint32(32)
                    + (
                        B_turn * uint32(256) + B_z * uint32(32) + B_y * uint32(4) + B_x
                    ) // uint32(16),
                    j_0 * uint32(128) + (B_y * uint32(4) + B_x) % uint32(16) * uint32(8),
                ),
            )
        close_group()
        for k_step in range(uint32(2)):
            # the threads of a warp multiply matrices together
            for i_tile in range(uint32(4)):
                A_shared_loaded = load_rows4(
                    A_shared,
                    (
                        uint64(k_0) % uint32(2),
                        i_warp_j_warp_fused // uint32(4) * uint32(64)
                        + i_tile * uint32(16)
                        + lane // uint32(8) % uint32(2) * uint32(8)
                        + lane % uint32(8),
                        (
                            k_step * uint32(2) + lane // uint32(16) + lane % uint32(8) // uint32(2)
                        ) % uint32(4),
                        uint32(0),
                    ),
                )
                A_shared_part[i_tile, 0] = A_shared_loaded[0]
                A_shared_part[i_tile, 1] = A_shared_loaded[1]
                A_shared_part[i_tile, 2] = A_shared_loaded[2]
                A_shared_part[i_tile, 3] = A_shared_loaded[3]
            for j_tile in range(uint32(2)):
                B_shared_loaded = load_columns4(
                    B_shared,
                    (
                        uint64(k_0) % uint32(2),
                        k_step * uint32(16) + lane % uint32(16),
                        (
                            i_warp_j_warp_fused % uint32(4) * uint32(4)
                            + j_tile * uint32(2)
                            + lane // uint32(16)
                            + lane % uint32(16)
                        ) % uint32(16),
                        uint32(0),
                    ),
                )
                B_shared_part[j_tile * uint32(2), 0] = B_shared_loaded[0]
                B_shared_part[j_tile * uint32(2), 1] = B_shared_loaded[1]
                B_shared_part[j_tile * uint32(2) + uint32(1), 0] = B_shared_loaded[2]
                B_shared_part[j_tile * uint32(2) + uint32(1), 1] = B_shared_loaded[3]
            for i_tile in range(uint32(4)):
                for j_tile in range(uint32(4)):
                    C_local_sums = multiply_add_f16(
                        (
                            A_shared_part[i_tile, 0],
                            A_shared_part[i_tile, 1],
                            A_shared_part[i_tile, 2],
                            A_shared_part[i_tile, 3],
                        ),
                        (B_shared_part[j_tile, 0], B_shared_part[j_tile, 1]),
                        (
                            C_local[i_tile, 0, j_tile, 0],
                            C_local[i_tile, 0, j_tile, 1],
                            C_local[i_tile, 1, j_tile, 0],
                            C_local[i_tile, 1, j_tile, 1],
                        ),
                    )
                    C_local[i_tile, 0, j_tile, 0] = C_local_sums[0]
                    C_local[i_tile, 0, j_tile, 1] = C_local_sums[1]
                    C_local[i_tile, 1, j_tile, 0] = C_local_sums[2]
                    C_local[i_tile, 1, j_tile, 1] = C_local_sums[3]

    wait_all()
    # A_shared, written by thread (A_z, A_y, A_x) above, is read by other threads below
    cuda.syncthreads()
    for k_0 in range(max(K // 32 - 1, 0), K // 32):
        for k_step in range(uint32(2)):
            # the threads of a warp multiply matrices together
            for i_tile in range(uint32(4)):
                A_shared_loaded = load_rows4(
                    A_shared,
                    (
                        uint64(k_0) % uint32(2),
                        i_warp_j_warp_fused // uint32(4) * uint32(64)
                        + i_tile * uint32(16)
                        + lane // uint32(8) % uint32(2) * uint32(8)
                        + lane % uint32(8),
                        (
                            k_step * uint32(2) + lane // uint32(16) + lane % uint32(8) // uint32(2)
                        ) % uint32(4),
                        uint32(0),
                    ),
                )
                A_shared_part[i_tile, 0] = A_shared_loaded[0]
                A_shared_part[i_tile, 1] = A_shared_loaded[1]
                A_shared_part[i_tile, 2] = A_shared_loaded[2]
                A_shared_part[i_tile, 3] = A_shared_loaded[3]
            for j_tile in range(uint32(2)):
                B_shared_loaded = load_columns4(
                    B_shared,
                    (
                        uint64(k_0) % uint32(2),
                        k_step * uint32(16) + lane % uint32(16),
                        (
                            i_warp_j_warp_fused % uint32(4) * uint32(4)
                            + j_tile * uint32(2)
                            + lane // uint32(16)
                            + lane % uint32(16)
                        ) % uint32(16),
                        uint32(0),
                    ),
                )
                B_shared_part[j_tile * uint32(2), 0] = B_shared_loaded[0]
                B_shared_part[j_tile * uint32(2), 1] = B_shared_loaded[1]
                B_shared_part[j_tile * uint32(2) + uint32(1), 0] = B_shared_loaded[2]
                B_shared_part[j_tile * uint32(2) + uint32(1), 1] = B_shared_loaded[3]
            for i_tile in range(uint32(4)):
                for j_tile in range(uint32(4)):
                    C_local_sums = multiply_add_f16(
                        (
                            A_shared_part[i_tile, 0],
                            A_shared_part[i_tile, 1],
                            A_shared_part[i_tile, 2],
                            A_shared_part[i_tile, 3],
                        ),
                        (B_shared_part[j_tile, 0], B_shared_part[j_tile, 1]),
                        (
                            C_local[i_tile, 0, j_tile, 0],
                            C_local[i_tile, 0, j_tile, 1],
                            C_local[i_tile, 1, j_tile, 0],
                            C_local[i_tile, 1, j_tile, 1],
                        ),
                    )
                    C_local[i_tile, 0, j_tile, 0] = C_local_sums[0]
                    C_local[i_tile, 0, j_tile, 1] = C_local_sums[1]
                    C_local[i_tile, 1, j_tile, 0] = C_local_sums[2]
                    C_local[i_tile, 1, j_tile, 1] = C_local_sums[3]

    for i_tile_2 in range(uint32(4)):
        for j_tile_2 in range(uint32(4)):
            for i_half_2 in range(uint32(2)):
                store2(
                    C,
                    (
                        i_0 * uint32(128)
                        + i_warp_j_warp_fused_2 // uint32(4) * uint32(64)
                        + i_tile_2 * uint32(16)
                        + i_half_2 * uint32(8)
                        + i_row_2,
                        j_0 * uint32(128)
                        + i_warp_j_warp_fused_2 % uint32(4) * uint32(32)
                        + j_tile_2 * uint32(8)
                        + j_pair_2 * uint32(2),
                    ),
                    (
                        C_local[i_tile_2, i_half_2, j_tile_2, 0],
                        C_local[i_tile_2, i_half_2, j_tile_2, 1],
                    ),
                )


@cuda.jit
def half_matmul_C_scalar_kernel(A, B, C, K):
    C_local = cuda.local.array((4, 2, 4, 2), np.float32)
    A_shared = cuda.shared.array((2, 128, 4, 8), np.float16)
    B_shared = cuda.shared.array((2, 32, 16, 8), np.float16)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    A_z = uint32(cuda.threadIdx.z)
    A_y = uint32(cuda.threadIdx.y)
    A_x = uint32(cuda.threadIdx.x)
    B_z = uint32(cuda.threadIdx.z)
    B_y = uint32(cuda.threadIdx.y)
    B_x = uint32(cuda.threadIdx.x)
    i_warp_j_warp_fused = uint32(cuda.threadIdx.z)
    i_row = uint32(cuda.threadIdx.y)
    j_pair = uint32(cuda.threadIdx.x)
    i_warp_j_warp_fused_2 = uint32(cuda.threadIdx.z)
    i_row_2 = uint32(cuda.threadIdx.y)
    j_pair_2 = uint32(cuda.threadIdx.x)
    for i_tile_1 in range(uint32(4)):
        for j_tile_1 in range(uint32(4)):
            for i_half_1 in range(uint32(2)):
                for j_cell_1 in range(uint32(2)):
                    C_local[i_tile_1, i_half_1, j_tile_1, j_cell_1] = 0.0

    for k_0 in range(min(K // 32, 1)):
        for A_turn in range(uint32(2)):
            for A_cell in range(uint32(8)):
                A_shared[
                    uint64(k_0) % uint32(2),
                    A_turn * uint32(64) + A_z * uint32(8) + A_y,
                    (A_x + A_y // uint32(2)) % uint32(4),
                    A_cell,
                ] = A[
                    i_0 * uint32(128) + A_turn * uint32(64) + A_z * uint32(8) + A_y,
                    uint64(k_0) * uint32(32) + A_x * uint32(8) + A_cell,
                ]
        for B_turn in range(uint32(2)):
            for B_cell in range(uint32(8)):
                B_shared[
                    uint64(k_0) % uint32(2),
                    B_turn * uint32(16) + B_z * uint32(2) + (B_y * uint32(4) + B_x) // uint32(16),
                    (
                        (B_y * uint32(4) + B_x) % uint32(16)
                        + B_z * uint32(2)
                        + (B_y * uint32(4) + B_x) // uint32(16)
                    ) % uint32(16),
                    B_cell,
                ] = B[
                    uint64(k_0) * uint32(32)
                    + (
                        B_turn * uint32(256) + B_z * uint32(32) + B_y * uint32(4) + B_x
                    ) // uint32(16),
                    j_0 * uint32(128) + (B_y * uint32(4) + B_x) % uint32(16) * uint32(8) + B_cell,
                ]

    for k_0 in range(K // 32 - 1):
        # A_shared, written by thread (A_z, A_y, A_x) above, is read by other threads below
        cuda.syncthreads()
        for A_turn in range(uint32(2)):
            for A_cell in range(uint32(8)):
                A_shared[
                    (uint64(k_0) + uint32(1)) % uint32(2),
                    A_turn * uint32(64) + A_z * uint32(8) + A_y,
                    (A_x + A_y // uint32(2)) % uint32(4),
                    A_cell,
                ] = A[
                    i_0 * uint32(128) + A_turn * uint32(64) + A_z * uint32(8) + A_y,
                    (uint64(k_0) + uint32(1)) * uint32(32) + A_x * uint32(8) + A_cell,
                ]
        for B_turn in range(uint32(2)):
            for B_cell in range(uint32(8)):
                B_shared[
                    (uint64(k_0) + uint32(1)) % uint32(2),
                    B_turn * uint32(16) + B_z * uint32(2) + (B_y * uint32(4) + B_x) // uint32(16),
                    (
                        (B_y * uint32(4) + B_x) % uint32(16)
                        + B_z * uint32(2)
                        + (B_y * uint32(4) + B_x) // uint32(16)
                    ) % uint32(16),
                    B_cell,
                ] = B[
                    (uint64(k_0) + uint32(1)) * uint32(32)
                    + (
                        B_turn * uint32(256) + B_z * uint32(32) + B_y * uint32(4) + B_x
                    ) // uint32(16),
                    j_0 * uint32(128) + (B_y * uint32(4) + B_x) % uint32(16) * uint32(8) + B_cell,
                ]
        for k_step in range(uint32(2)):
            for i_tile in range(uint32(4)):
                for j_tile in range(uint32(4)):
                    for i_half in range(uint32(2)):
                        for j_cell in range(uint32(2)):
                            for k_part in range(uint32(16)):
                                C_local[i_tile, i_half, j_tile, j_cell] += (
                                    np.float32(
                                        A_shared[
                                            uint64(k_0) % uint32(2),
                                            i_warp_j_warp_fused // uint32(4) * uint32(64)
                                            + i_tile * uint32(16)
                                            + i_half * uint32(8)
                                            + i_row,
                                            (
                                                k_step * uint32(2)
                                                + k_part // uint32(8)
                                                + i_row // uint32(2)
                                            ) % uint32(4),
                                            k_part % uint32(8),
                                        ]
                                    )
                                    * np.float32(
                                        B_shared[
                                            uint64(k_0) % uint32(2),
                                            k_step * uint32(16) + k_part,
                                            (
                                                i_warp_j_warp_fused % uint32(4) * uint32(4)
                                                + j_tile
                                                + k_part
                                            ) % uint32(16),
                                            j_pair * uint32(2) + j_cell,
                                        ]
                                    )
                                )

    # A_shared, written by thread (A_z, A_y, A_x) above, is read by other threads below
    cuda.syncthreads()
    for k_0 in range(max(K // 32 - 1, 0), K // 32):
        for k_step in range(uint32(2)):
            for i_tile in range(uint32(4)):
                for j_tile in range(uint32(4)):
                    for i_half in range(uint32(2)):
                        for j_cell in range(uint32(2)):
                            for k_part in range(uint32(16)):
                                C_local[i_tile, i_half, j_tile, j_cell] += (
                                    np.float32(
                                        A_shared[
                                            uint64(k_0) % uint32(2),
                                            i_warp_j_warp_fused // uint32(4) * uint32(64)
                                            + i_tile * uint32(16)
                                            + i_half * uint32(8)
                                            + i_row,
                                            (
                                                k_step * uint32(2)
                                                + k_part // uint32(8)
                                                + i_row // uint32(2)
                                            ) % uint32(4),
                                            k_part % uint32(8),
                                        ]
                                    )
                                    * np.float32(
                                        B_shared[
                                            uint64(k_0) % uint32(2),
                                            k_step * uint32(16) + k_part,
                                            (
                                                i_warp_j_warp_fused % uint32(4) * uint32(4)
                                                + j_tile
                                                + k_part
                                            ) % uint32(16),
                                            j_pair * uint32(2) + j_cell,
                                        ]
                                    )
                                )

    for i_tile_2 in range(uint32(4)):
        for j_tile_2 in range(uint32(4)):
            for i_half_2 in range(uint32(2)):
                for j_cell_2 in range(uint32(2)):
                    C[
                        i_0 * uint32(128)
                        + i_warp_j_warp_fused_2 // uint32(4) * uint32(64)
                        + i_tile_2 * uint32(16)
                        + i_half_2 * uint32(8)
                        + i_row_2,
                        j_0 * uint32(128)
                        + i_warp_j_warp_fused_2 % uint32(4) * uint32(32)
                        + j_tile_2 * uint32(8)
                        + j_pair_2 * uint32(2)
                        + j_cell_2,
                    ] = C_local[i_tile_2, i_half_2, j_tile_2, j_cell_2]


@cuda.jit
def half_matmul_C_kernel_1(A, B, C, M, K, N):
    i_block = uint32(cuda.blockIdx.y)
    j_block = uint32(cuda.blockIdx.x)
    i_thread = uint32(cuda.threadIdx.y)
    j_thread = uint32(cuda.threadIdx.x)
    if i_block * uint32(8) + i_thread < uint64(M) and j_block * uint32(32) + j_thread < uint64(N):
        C[i_block * uint32(8) + i_thread, j_block * uint32(32) + j_thread] = 0.0
        for k in range(uint64(K)):
            C[i_block * uint32(8) + i_thread, j_block * uint32(32) + j_thread] += (
                np.float32(A[i_block * uint32(8) + i_thread, k])
                * np.float32(B[k, j_block * uint32(32) + j_thread])
            )


def half_matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    if M % 128 == 0 and N % 128 == 0 and K % 32 == 0:
        grid = N // 128, M // 128
        if min(grid) > 0:
            if is_aligned(16, A, B, C):
                half_matmul_C_kernel[grid, (4, 8, 8)](A, B, C, K)
            else:
                half_matmul_C_scalar_kernel[grid, (4, 8, 8)](A, B, C, K)
    else:
        grid = (N + 31) // 32, (M + 7) // 8
        if min(grid) > 0:
            half_matmul_C_kernel_1[grid, (32, 8)](A, B, C, M, K, N)
