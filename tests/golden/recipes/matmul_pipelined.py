from astile.loops import block, local, shared, thread, unroll, vector


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i_0 in block.y((M + 31) // 32):
        for j_0 in block.x((N + 15) // 16):
            C_local = local.empty((32, 16), C.dtype)
            for i_1 in thread.y(8):
                for i_2 in range(4):
                    if i_0 * 32 + i_1 * 4 + i_2 < M:
                        for j_1 in thread.x(8):
                            for j_2 in range(2):
                                if j_0 * 16 + j_1 * 2 + j_2 < N:
                                    C_local[i_1 * 4 + i_2, j_1 * 2 + j_2] = 0.0
            # axis 1 is padded from 32 to 36 cells
            A_shared = shared.empty((3, 8, 36), A.dtype)
            B_shared = shared.empty((3, 8, 16), B.dtype)
            # prologue of the loop over k_0
            for k_0 in range(min((K + 7) // 8, 2)):
                for A_y in thread.y(8):
                    for A_x in thread.x(8):
                        for A_1_1 in range(4):
                            if (
                                i_0 * 32 + (A_y * 8 + A_x) // 2 < M
                                and k_0 * 8 + A_x % 2 * 4 + A_1_1 < K
                            ):
                                A_shared[k_0 % 3, A_x % 2 * 4 + A_1_1, (A_y * 8 + A_x) // 2] = A[
                                    i_0 * 32 + (A_y * 8 + A_x) // 2, k_0 * 8 + A_x % 2 * 4 + A_1_1
                                ]
                for B_0 in thread.y(8):
                    for B_1_0 in thread.x(4):
                        for B_1_1 in range(4):
                            if k_0 * 8 + B_0 < K and j_0 * 16 + B_1_0 * 4 + B_1_1 < N:
                                B_shared[k_0 % 3, B_0, B_1_0 * 4 + B_1_1] = B[
                                    k_0 * 8 + B_0, j_0 * 16 + B_1_0 * 4 + B_1_1
                                ]
            if i_0 * 32 + 32 <= M and j_0 * 16 + 16 <= N and K % 8 == 0:
                # steady state of the loop over k_0
                for k_0 in range(K // 8 - 2):
                    for A_y in thread.y(8):
                        for A_x in thread.x(8):
                            for A_1_1 in vector(4):
                                A_shared[
                                    (k_0 + 2) % 3, A_x % 2 * 4 + A_1_1, (A_y * 8 + A_x) // 2
                                ] = A[
                                    i_0 * 32 + (A_y * 8 + A_x) // 2,
                                    (k_0 + 2) * 8 + A_x % 2 * 4 + A_1_1,
                                ]
                    for B_0 in thread.y(8):
                        for B_1_0 in thread.x(4):
                            for B_1_1 in vector(4):
                                B_shared[(k_0 + 2) % 3, B_0, B_1_0 * 4 + B_1_1] = B[
                                    (k_0 + 2) * 8 + B_0, j_0 * 16 + B_1_0 * 4 + B_1_1
                                ]
                    for i_1 in thread.y(8):
                        for j_1 in thread.x(8):
                            for k_1 in unroll(8):
                                for i_2 in range(4):
                                    for j_2 in range(2):
                                        C_local[i_1 * 4 + i_2, j_1 * 2 + j_2] += (
                                            A_shared[k_0 % 3, k_1, i_1 * 4 + i_2]
                                            * B_shared[k_0 % 3, k_1, j_1 * 2 + j_2]
                                        )
            else:
                # steady state of the loop over k_0
                for k_0 in range((K + 7) // 8 - 2):
                    for A_y in thread.y(8):
                        for A_x in thread.x(8):
                            for A_1_1 in range(4):
                                if (
                                    i_0 * 32 + (A_y * 8 + A_x) // 2 < M
                                    and (k_0 + 2) * 8 + A_x % 2 * 4 + A_1_1 < K
                                ):
                                    A_shared[
                                        (k_0 + 2) % 3, A_x % 2 * 4 + A_1_1, (A_y * 8 + A_x) // 2
                                    ] = A[
                                        i_0 * 32 + (A_y * 8 + A_x) // 2,
                                        (k_0 + 2) * 8 + A_x % 2 * 4 + A_1_1,
                                    ]
                    for B_0 in thread.y(8):
                        for B_1_0 in thread.x(4):
                            for B_1_1 in range(4):
                                if (k_0 + 2) * 8 + B_0 < K and j_0 * 16 + B_1_0 * 4 + B_1_1 < N:
                                    B_shared[(k_0 + 2) % 3, B_0, B_1_0 * 4 + B_1_1] = B[
                                        (k_0 + 2) * 8 + B_0, j_0 * 16 + B_1_0 * 4 + B_1_1
                                    ]
                    for i_1 in thread.y(8):
                        for j_1 in thread.x(8):
                            for k_1 in range(8):
                                for i_2 in range(4):
                                    if i_0 * 32 + i_1 * 4 + i_2 < M:
                                        for j_2 in range(2):
                                            if j_0 * 16 + j_1 * 2 + j_2 < N:
                                                C_local[i_1 * 4 + i_2, j_1 * 2 + j_2] += (
                                                    A_shared[k_0 % 3, k_1, i_1 * 4 + i_2]
                                                    * B_shared[k_0 % 3, k_1, j_1 * 2 + j_2]
                                                )
            # epilogue of the loop over k_0
            for k_0 in range(max((K + 7) // 8 - 2, 0), (K + 7) // 8):
                for i_1 in thread.y(8):
                    for j_1 in thread.x(8):
                        for k_1 in range(8):
                            for i_2 in range(4):
                                if i_0 * 32 + i_1 * 4 + i_2 < M:
                                    for j_2 in range(2):
                                        if j_0 * 16 + j_1 * 2 + j_2 < N and k_0 * 8 + k_1 < K:
                                            C_local[i_1 * 4 + i_2, j_1 * 2 + j_2] += (
                                                A_shared[k_0 % 3, k_1, i_1 * 4 + i_2]
                                                * B_shared[k_0 % 3, k_1, j_1 * 2 + j_2]
                                            )
            for C_0_0 in thread.y(8):
                for C_0_1 in range(4):
                    for C_1_0 in thread.x(8):
                        for C_1_1 in vector(2):
                            if (
                                i_0 * 32 + C_0_0 * 4 + C_0_1 < M
                                and j_0 * 16 + C_1_0 * 2 + C_1_1 < N
                            ):
                                C[i_0 * 32 + C_0_0 * 4 + C_0_1, j_0 * 16 + C_1_0 * 2 + C_1_1] = (
                                    C_local[C_0_0 * 4 + C_0_1, C_1_0 * 2 + C_1_1]
                                )
