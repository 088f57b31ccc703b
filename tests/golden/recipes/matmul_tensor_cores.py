import numpy as np

from astile.loops import block, local, mma, shared, thread, vector


def half_matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    if M % 128 == 0 and N % 128 == 0 and K % 32 == 0:
        for i_0 in block.y(M // 128):
            for j_0 in block.x(N // 128):
                C_local = local.empty((8, 4, 2, 8, 4, 4, 2), C.dtype)
                for i_warp_j_warp_fused_1 in thread.z(8):
                    for i_row_1 in thread.y(8):
                        for j_pair_1 in thread.x(4):
                            for i_tile_1 in range(4):
                                for j_tile_1 in range(4):
                                    for i_half_1 in range(2):
                                        for j_cell_1 in range(2):
                                            C_local[
                                                i_warp_j_warp_fused_1,
                                                i_tile_1,
                                                i_half_1,
                                                i_row_1,
                                                j_tile_1,
                                                j_pair_1,
                                                j_cell_1,
                                            ] = 0.0
                A_shared = shared.empty((2, 128, 4, 8), A.dtype)
                B_shared = shared.empty((2, 32, 16, 8), B.dtype)
                # prologue of the loop over k_0
                for k_0 in range(min(K // 32, 1)):
                    for A_turn in range(2):
                        for A_z in thread.z(8):
                            for A_y in thread.y(8):
                                for A_x in thread.x(4):
                                    for A_cell in vector(8):
                                        A_shared[
                                            k_0 % 2,
                                            A_turn * 64 + A_z * 8 + A_y,
                                            (A_x + A_y // 2) % 4,
                                            A_cell,
                                        ] = A[
                                            i_0 * 128 + A_turn * 64 + A_z * 8 + A_y,
                                            k_0 * 32 + A_x * 8 + A_cell,
                                        ]
                    for B_turn in range(2):
                        for B_z in thread.z(8):
                            for B_y in thread.y(8):
                                for B_x in thread.x(4):
                                    for B_cell in vector(8):
                                        B_shared[
                                            k_0 % 2,
                                            B_turn * 16 + B_z * 2 + (B_y * 4 + B_x) // 16,
                                            (
                                                (B_y * 4 + B_x) % 16
                                                + B_z * 2
                                                + (B_y * 4 + B_x) // 16
                                            ) % 16,
                                            B_cell,
                                        ] = B[
                                            k_0 * 32
                                            + (B_turn * 256 + B_z * 32 + B_y * 4 + B_x) // 16,
                                            j_0 * 128 + (B_y * 4 + B_x) % 16 * 8 + B_cell,
                                        ]
                # steady state of the loop over k_0
                for k_0 in range(K // 32 - 1):
                    for A_turn in range(2):
                        for A_z in thread.z(8):
                            for A_y in thread.y(8):
                                for A_x in thread.x(4):
                                    for A_cell in vector(8):
                                        A_shared[
                                            (k_0 + 1) % 2,
                                            A_turn * 64 + A_z * 8 + A_y,
                                            (A_x + A_y // 2) % 4,
                                            A_cell,
                                        ] = A[
                                            i_0 * 128 + A_turn * 64 + A_z * 8 + A_y,
                                            (k_0 + 1) * 32 + A_x * 8 + A_cell,
                                        ]
                    for B_turn in range(2):
                        for B_z in thread.z(8):
                            for B_y in thread.y(8):
                                for B_x in thread.x(4):
                                    for B_cell in vector(8):
                                        B_shared[
                                            (k_0 + 1) % 2,
                                            B_turn * 16 + B_z * 2 + (B_y * 4 + B_x) // 16,
                                            (
                                                (B_y * 4 + B_x) % 16
                                                + B_z * 2
                                                + (B_y * 4 + B_x) // 16
                                            ) % 16,
                                            B_cell,
                                        ] = B[
                                            (k_0 + 1) * 32
                                            + (B_turn * 256 + B_z * 32 + B_y * 4 + B_x) // 16,
                                            j_0 * 128 + (B_y * 4 + B_x) % 16 * 8 + B_cell,
                                        ]
                    for i_warp_j_warp_fused in thread.z(8):
                        for i_row in thread.y(8):
                            for j_pair in thread.x(4):
                                for k_step in range(2):
                                    for i_tile in mma.m16n8k16.f16(4):
                                        for j_tile in range(4):
                                            for i_half in range(2):
                                                for j_cell in range(2):
                                                    for k_part in range(16):
                                                        C_local[
                                                            i_warp_j_warp_fused,
                                                            i_tile,
                                                            i_half,
                                                            i_row,
                                                            j_tile,
                                                            j_pair,
                                                            j_cell,
                                                        ] += (
                                                            np.float32(
                                                                A_shared[
                                                                    k_0 % 2,
                                                                    i_warp_j_warp_fused // 4 * 64
                                                                    + i_tile * 16
                                                                    + i_half * 8
                                                                    + i_row,
                                                                    (
                                                                        k_step * 2
                                                                        + k_part // 8
                                                                        + i_row // 2
                                                                    ) % 4,
                                                                    k_part % 8,
                                                                ]
                                                            )
                                                            * np.float32(
                                                                B_shared[
                                                                    k_0 % 2,
                                                                    k_step * 16 + k_part,
                                                                    (
                                                                        i_warp_j_warp_fused % 4 * 4
                                                                        + j_tile
                                                                        + k_part
                                                                    ) % 16,
                                                                    j_pair * 2 + j_cell,
                                                                ]
                                                            )
                                                        )
                # epilogue of the loop over k_0
                for k_0 in range(max(K // 32 - 1, 0), K // 32):
                    for i_warp_j_warp_fused in thread.z(8):
                        for i_row in thread.y(8):
                            for j_pair in thread.x(4):
                                for k_step in range(2):
                                    for i_tile in mma.m16n8k16.f16(4):
                                        for j_tile in range(4):
                                            for i_half in range(2):
                                                for j_cell in range(2):
                                                    for k_part in range(16):
                                                        C_local[
                                                            i_warp_j_warp_fused,
                                                            i_tile,
                                                            i_half,
                                                            i_row,
                                                            j_tile,
                                                            j_pair,
                                                            j_cell,
                                                        ] += (
                                                            np.float32(
                                                                A_shared[
                                                                    k_0 % 2,
                                                                    i_warp_j_warp_fused // 4 * 64
                                                                    + i_tile * 16
                                                                    + i_half * 8
                                                                    + i_row,
                                                                    (
                                                                        k_step * 2
                                                                        + k_part // 8
                                                                        + i_row // 2
                                                                    ) % 4,
                                                                    k_part % 8,
                                                                ]
                                                            )
                                                            * np.float32(
                                                                B_shared[
                                                                    k_0 % 2,
                                                                    k_step * 16 + k_part,
                                                                    (
                                                                        i_warp_j_warp_fused % 4 * 4
                                                                        + j_tile
                                                                        + k_part
                                                                    ) % 16,
                                                                    j_pair * 2 + j_cell,
                                                                ]
                                                            )
                                                        )
                for i_warp_j_warp_fused_2 in thread.z(8):
                    for i_row_2 in thread.y(8):
                        for j_pair_2 in thread.x(4):
                            for i_tile_2 in range(4):
                                for j_tile_2 in range(4):
                                    for i_half_2 in range(2):
                                        for j_cell_2 in vector(2):
                                            C[
                                                i_0 * 128
                                                + i_warp_j_warp_fused_2 // 4 * 64
                                                + i_tile_2 * 16
                                                + i_half_2 * 8
                                                + i_row_2,
                                                j_0 * 128
                                                + i_warp_j_warp_fused_2 % 4 * 32
                                                + j_tile_2 * 8
                                                + j_pair_2 * 2
                                                + j_cell_2,
                                            ] = C_local[
                                                i_warp_j_warp_fused_2,
                                                i_tile_2,
                                                i_half_2,
                                                i_row_2,
                                                j_tile_2,
                                                j_pair_2,
                                                j_cell_2,
                                            ]
    else:
        for i_block in block.y((M + 7) // 8):
            for j_block in block.x((N + 31) // 32):
                for i_thread in thread.y(8):
                    if i_block * 8 + i_thread < M:
                        for j_thread in thread.x(32):
                            if j_block * 32 + j_thread < N:
                                C[i_block * 8 + i_thread, j_block * 32 + j_thread] = 0.0
                                for k in range(K):
                                    C[i_block * 8 + i_thread, j_block * 32 + j_thread] += (
                                        np.float32(A[i_block * 8 + i_thread, k])
                                        * np.float32(B[k, j_block * 32 + j_thread])
                                    )
