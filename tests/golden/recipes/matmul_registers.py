from astile.loops import block, local, shared, thread, unroll, vector


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i_0 in block.y((M + 127) // 128):
        for j_0 in block.x((N + 127) // 128):
            B_shared = shared.empty((8, 128), B.dtype)
            # axis 1 is padded from 128 to 132 cells
            A_shared = shared.empty((8, 132), A.dtype)
            C_local = local.empty((128, 128), C.dtype)
            for i_1 in range(2):
                for i_2 in thread.y(16):
                    for i_3 in range(4):
                        if i_0 * 128 + i_1 * 64 + i_2 * 4 + i_3 < M:
                            for j_1 in range(2):
                                for j_2 in thread.x(16):
                                    for j_3 in range(4):
                                        if j_0 * 128 + j_1 * 64 + j_2 * 4 + j_3 < N:
                                            C_local[
                                                i_1 * 64 + i_2 * 4 + i_3, j_1 * 64 + j_2 * 4 + j_3
                                            ] = 0.0
            if i_0 * 128 + 128 <= M and j_0 * 128 + 128 <= N and K % 8 == 0:
                for k_0 in range(K // 8):
                    for A_y in thread.y(16):
                        for A_x in thread.x(16):
                            for A_1_1 in vector(4):
                                A_shared[A_x % 2 * 4 + A_1_1, (A_y * 16 + A_x) // 2] = A[
                                    i_0 * 128 + (A_y * 16 + A_x) // 2, k_0 * 8 + A_x % 2 * 4 + A_1_1
                                ]
                    for B_y in thread.y(16):
                        for B_x in thread.x(16):
                            for B_1_1 in vector(4):
                                B_shared[
                                    (B_y * 16 + B_x) // 32, (B_y * 16 + B_x) % 32 * 4 + B_1_1
                                ] = B[
                                    k_0 * 8 + (B_y * 16 + B_x) // 32,
                                    j_0 * 128 + (B_y * 16 + B_x) % 32 * 4 + B_1_1,
                                ]
                    for i_2 in thread.y(16):
                        for j_2 in thread.x(16):
                            for k_1 in unroll(8):
                                for i_1 in range(2):
                                    for i_3 in range(4):
                                        for j_1 in range(2):
                                            for j_3 in range(4):
                                                C_local[
                                                    i_1 * 64 + i_2 * 4 + i_3,
                                                    j_1 * 64 + j_2 * 4 + j_3,
                                                ] += (
                                                    A_shared[k_1, i_1 * 64 + i_2 * 4 + i_3]
                                                    * B_shared[k_1, j_1 * 64 + j_2 * 4 + j_3]
                                                )
            else:
                for k_0 in range((K + 7) // 8):
                    for A_y in thread.y(16):
                        for A_x in thread.x(16):
                            for A_1_1 in range(4):
                                if (
                                    i_0 * 128 + (A_y * 16 + A_x) // 2 < M
                                    and k_0 * 8 + A_x % 2 * 4 + A_1_1 < K
                                ):
                                    A_shared[A_x % 2 * 4 + A_1_1, (A_y * 16 + A_x) // 2] = A[
                                        i_0 * 128 + (A_y * 16 + A_x) // 2,
                                        k_0 * 8 + A_x % 2 * 4 + A_1_1,
                                    ]
                    for B_y in thread.y(16):
                        for B_x in thread.x(16):
                            for B_1_1 in range(4):
                                if (
                                    k_0 * 8 + (B_y * 16 + B_x) // 32 < K
                                    and j_0 * 128 + (B_y * 16 + B_x) % 32 * 4 + B_1_1 < N
                                ):
                                    B_shared[
                                        (B_y * 16 + B_x) // 32, (B_y * 16 + B_x) % 32 * 4 + B_1_1
                                    ] = B[
                                        k_0 * 8 + (B_y * 16 + B_x) // 32,
                                        j_0 * 128 + (B_y * 16 + B_x) % 32 * 4 + B_1_1,
                                    ]
                    for i_2 in thread.y(16):
                        for j_2 in thread.x(16):
                            for k_1 in range(8):
                                for i_1 in range(2):
                                    for i_3 in range(4):
                                        if i_0 * 128 + i_1 * 64 + i_2 * 4 + i_3 < M:
                                            for j_1 in range(2):
                                                for j_3 in range(4):
                                                    if (
                                                        j_0 * 128 + j_1 * 64 + j_2 * 4 + j_3 < N
                                                        and k_0 * 8 + k_1 < K
                                                    ):
                                                        C_local[
                                                            i_1 * 64 + i_2 * 4 + i_3,
                                                            j_1 * 64 + j_2 * 4 + j_3,
                                                        ] += (
                                                            A_shared[k_1, i_1 * 64 + i_2 * 4 + i_3]
                                                            * B_shared[
                                                                k_1, j_1 * 64 + j_2 * 4 + j_3
                                                            ]
                                                        )
            for C_0_0 in range(2):
                for C_0_1 in thread.y(16):
                    for C_0_2 in range(4):
                        for C_1_0 in range(2):
                            for C_1_1 in thread.x(16):
                                for C_1_2 in vector(4):
                                    if (
                                        i_0 * 128 + C_0_0 * 64 + C_0_1 * 4 + C_0_2 < M
                                        and j_0 * 128 + C_1_0 * 64 + C_1_1 * 4 + C_1_2 < N
                                    ):
                                        C[
                                            i_0 * 128 + C_0_0 * 64 + C_0_1 * 4 + C_0_2,
                                            j_0 * 128 + C_1_0 * 64 + C_1_1 * 4 + C_1_2,
                                        ] = C_local[
                                            C_0_0 * 64 + C_0_1 * 4 + C_0_2,
                                            C_1_0 * 64 + C_1_1 * 4 + C_1_2,
                                        ]
