from astile.loops import block, local, shared, thread


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i_0 in block.y((M + 15) // 16):
        for j_0 in block.x((N + 15) // 16):
            C_local = local.empty((16, 16), C.dtype)
            for i_1 in thread.y(16):
                if i_0 * 16 + i_1 < M:
                    for j_1 in thread.x(16):
                        if j_0 * 16 + j_1 < N:
                            C_local[i_1, j_1] = 0.0
            for k_0 in range((K + 23) // 24):
                A_shared = shared.empty((16, 24), A.dtype)
                for A_1_turn in range(2):
                    for A_0 in thread.y(16):
                        for A_1_lane in thread.x(16):
                            if (
                                A_1_turn * 16 + A_1_lane < 24
                                and i_0 * 16 + A_0 < M
                                and k_0 * 24 + A_1_turn * 16 + A_1_lane < K
                            ):
                                A_shared[A_0, A_1_turn * 16 + A_1_lane] = A[
                                    i_0 * 16 + A_0, k_0 * 24 + A_1_turn * 16 + A_1_lane
                                ]
                B_shared = shared.empty((24, 16), B.dtype)
                for B_0_turn in range(2):
                    for B_0_lane in thread.y(16):
                        if B_0_turn * 16 + B_0_lane < 24:
                            for B_1 in thread.x(16):
                                if k_0 * 24 + B_0_turn * 16 + B_0_lane < K and j_0 * 16 + B_1 < N:
                                    B_shared[B_0_turn * 16 + B_0_lane, B_1] = B[
                                        k_0 * 24 + B_0_turn * 16 + B_0_lane, j_0 * 16 + B_1
                                    ]
                for i_1 in thread.y(16):
                    if i_0 * 16 + i_1 < M:
                        for j_1 in thread.x(16):
                            if j_0 * 16 + j_1 < N:
                                for k_1 in range(24):
                                    if k_0 * 24 + k_1 < K:
                                        C_local[i_1, j_1] += A_shared[i_1, k_1] * B_shared[k_1, j_1]
            for C_0 in thread.y(16):
                for C_1 in thread.x(16):
                    if i_0 * 16 + C_0 < M and j_0 * 16 + C_1 < N:
                        C[i_0 * 16 + C_0, j_0 * 16 + C_1] = C_local[C_0, C_1]
