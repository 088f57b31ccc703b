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
            A_shared = shared.empty((2, 16, 8), A.dtype)
            B_shared = shared.empty((2, 8, 16), B.dtype)
            # prologue of the loop over k_0
            for k_0 in range(min((K + 7) // 8, 1)):
                for A_0 in thread.y(16):
                    for A_1 in thread.x(8):
                        if i_0 * 16 + A_0 < M and k_0 * 8 + A_1 < K:
                            A_shared[k_0 % 2, A_0, A_1] = A[i_0 * 16 + A_0, k_0 * 8 + A_1]
                for B_0 in thread.y(8):
                    for B_1 in thread.x(16):
                        if k_0 * 8 + B_0 < K and j_0 * 16 + B_1 < N:
                            B_shared[k_0 % 2, B_0, B_1] = B[k_0 * 8 + B_0, j_0 * 16 + B_1]
            # steady state of the loop over k_0
            for k_0 in range((K + 7) // 8 - 1):
                for A_0 in thread.y(16):
                    for A_1 in thread.x(8):
                        if i_0 * 16 + A_0 < M and (k_0 + 1) * 8 + A_1 < K:
                            A_shared[(k_0 + 1) % 2, A_0, A_1] = A[
                                i_0 * 16 + A_0, (k_0 + 1) * 8 + A_1
                            ]
                for B_0 in thread.y(8):
                    for B_1 in thread.x(16):
                        if (k_0 + 1) * 8 + B_0 < K and j_0 * 16 + B_1 < N:
                            B_shared[(k_0 + 1) % 2, B_0, B_1] = B[
                                (k_0 + 1) * 8 + B_0, j_0 * 16 + B_1
                            ]
                for i_1 in thread.y(16):
                    if i_0 * 16 + i_1 < M:
                        for j_1 in thread.x(16):
                            if j_0 * 16 + j_1 < N:
                                for k_1 in range(8):
                                    C_local[i_1, j_1] += (
                                        A_shared[k_0 % 2, i_1, k_1] * B_shared[k_0 % 2, k_1, j_1]
                                    )
            # epilogue of the loop over k_0
            for k_0 in range(max((K + 7) // 8 - 1, 0), (K + 7) // 8):
                for i_1 in thread.y(16):
                    if i_0 * 16 + i_1 < M:
                        for j_1 in thread.x(16):
                            if j_0 * 16 + j_1 < N:
                                for k_1 in range(8):
                                    if k_0 * 8 + k_1 < K:
                                        C_local[i_1, j_1] += (
                                            A_shared[k_0 % 2, i_1, k_1]
                                            * B_shared[k_0 % 2, k_1, j_1]
                                        )
            for C_0 in thread.y(16):
                for C_1 in thread.x(16):
                    if i_0 * 16 + C_0 < M and j_0 * 16 + C_1 < N:
                        C[i_0 * 16 + C_0, j_0 * 16 + C_1] = C_local[C_0, C_1]
