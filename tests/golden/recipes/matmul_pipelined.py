from astile.loops import block, local, shared, thread


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
            A_shared = shared.empty((3, 32, 8), A.dtype)
            B_shared = shared.empty((3, 8, 16), B.dtype)
            # prologue of the loop over k_0
            for k_0 in range(min((K + 7) // 8, 2)):
                for A_0_turn in range(4):
                    for A_0_lane in thread.y(8):
                        for A_1 in thread.x(8):
                            if i_0 * 32 + A_0_turn * 8 + A_0_lane < M and k_0 * 8 + A_1 < K:
                                A_shared[k_0 % 3, A_0_turn * 8 + A_0_lane, A_1] = A[
                                    i_0 * 32 + A_0_turn * 8 + A_0_lane, k_0 * 8 + A_1
                                ]
                for B_1_turn in range(2):
                    for B_0 in thread.y(8):
                        for B_1_lane in thread.x(8):
                            if k_0 * 8 + B_0 < K and j_0 * 16 + B_1_turn * 8 + B_1_lane < N:
                                B_shared[k_0 % 3, B_0, B_1_turn * 8 + B_1_lane] = B[
                                    k_0 * 8 + B_0, j_0 * 16 + B_1_turn * 8 + B_1_lane
                                ]
            # steady state of the loop over k_0
            for k_0 in range((K + 7) // 8 - 2):
                for A_0_turn in range(4):
                    for A_0_lane in thread.y(8):
                        for A_1 in thread.x(8):
                            if i_0 * 32 + A_0_turn * 8 + A_0_lane < M and (k_0 + 2) * 8 + A_1 < K:
                                A_shared[(k_0 + 2) % 3, A_0_turn * 8 + A_0_lane, A_1] = A[
                                    i_0 * 32 + A_0_turn * 8 + A_0_lane, (k_0 + 2) * 8 + A_1
                                ]
                for B_1_turn in range(2):
                    for B_0 in thread.y(8):
                        for B_1_lane in thread.x(8):
                            if (k_0 + 2) * 8 + B_0 < K and j_0 * 16 + B_1_turn * 8 + B_1_lane < N:
                                B_shared[(k_0 + 2) % 3, B_0, B_1_turn * 8 + B_1_lane] = B[
                                    (k_0 + 2) * 8 + B_0, j_0 * 16 + B_1_turn * 8 + B_1_lane
                                ]
                for i_1 in thread.y(8):
                    for j_1 in thread.x(8):
                        for k_1 in range(8):
                            A_shared_local = local.empty((4, 1), A.dtype)
                            for A_shared_0 in range(4):
                                if i_0 * 32 + i_1 * 4 + A_shared_0 < M:
                                    A_shared_local[A_shared_0, 0] = A_shared[
                                        k_0 % 3, i_1 * 4 + A_shared_0, k_1
                                    ]
                            B_shared_local = local.empty((1, 2), B.dtype)
                            for B_shared_1 in range(2):
                                if j_0 * 16 + j_1 * 2 + B_shared_1 < N:
                                    B_shared_local[0, B_shared_1] = B_shared[
                                        k_0 % 3, k_1, j_1 * 2 + B_shared_1
                                    ]
                            for i_2 in range(4):
                                if i_0 * 32 + i_1 * 4 + i_2 < M:
                                    for j_2 in range(2):
                                        if j_0 * 16 + j_1 * 2 + j_2 < N:
                                            C_local[i_1 * 4 + i_2, j_1 * 2 + j_2] += (
                                                A_shared_local[i_2, 0] * B_shared_local[0, j_2]
                                            )
            # epilogue of the loop over k_0
            for k_0 in range(max((K + 7) // 8 - 2, 0), (K + 7) // 8):
                for i_1 in thread.y(8):
                    for j_1 in thread.x(8):
                        for k_1 in range(8):
                            A_shared_local_1 = local.empty((4, 1), A.dtype)
                            for A_shared_0 in range(4):
                                if k_0 * 8 + k_1 < K and i_0 * 32 + i_1 * 4 + A_shared_0 < M:
                                    A_shared_local_1[A_shared_0, 0] = A_shared[
                                        k_0 % 3, i_1 * 4 + A_shared_0, k_1
                                    ]
                            B_shared_local_1 = local.empty((1, 2), B.dtype)
                            for B_shared_1 in range(2):
                                if k_0 * 8 + k_1 < K and j_0 * 16 + j_1 * 2 + B_shared_1 < N:
                                    B_shared_local_1[0, B_shared_1] = B_shared[
                                        k_0 % 3, k_1, j_1 * 2 + B_shared_1
                                    ]
                            for i_2 in range(4):
                                if i_0 * 32 + i_1 * 4 + i_2 < M:
                                    for j_2 in range(2):
                                        if j_0 * 16 + j_1 * 2 + j_2 < N and k_0 * 8 + k_1 < K:
                                            C_local[i_1 * 4 + i_2, j_1 * 2 + j_2] += (
                                                A_shared_local_1[i_2, 0] * B_shared_local_1[0, j_2]
                                            )
            for C_0_0 in thread.y(8):
                for C_0_1 in range(4):
                    for C_1_0 in thread.x(8):
                        for C_1_1 in range(2):
                            if (
                                i_0 * 32 + C_0_0 * 4 + C_0_1 < M
                                and j_0 * 16 + C_1_0 * 2 + C_1_1 < N
                            ):
                                C[i_0 * 32 + C_0_0 * 4 + C_0_1, j_0 * 16 + C_1_0 * 2 + C_1_1] = (
                                    C_local[C_0_0 * 4 + C_0_1, C_1_0 * 2 + C_1_1]
                                )
