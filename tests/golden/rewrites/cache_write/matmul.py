from astile.loops import local


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i_0 in range((M + 15) // 16):
        for j_0 in range((N + 15) // 16):
            C_local = local.empty((16, 16), C.dtype)
            for i_1 in range(16):
                if i_0 * 16 + i_1 < M:
                    for j_1 in range(16):
                        if j_0 * 16 + j_1 < N:
                            C_local[i_1, j_1] = 0.0
            for k_0 in range((K + 7) // 8):
                for i_1 in range(16):
                    if i_0 * 16 + i_1 < M:
                        for j_1 in range(16):
                            if j_0 * 16 + j_1 < N:
                                for k_1 in range(8):
                                    if k_0 * 8 + k_1 < K:
                                        C_local[i_1, j_1] += (
                                            A[i_0 * 16 + i_1, k_0 * 8 + k_1]
                                            * B[k_0 * 8 + k_1, j_0 * 16 + j_1]
                                        )
            for C_0 in range(16):
                for C_1 in range(16):
                    if i_0 * 16 + C_0 < M and j_0 * 16 + C_1 < N:
                        C[i_0 * 16 + C_0, j_0 * 16 + C_1] = C_local[C_0, C_1]
