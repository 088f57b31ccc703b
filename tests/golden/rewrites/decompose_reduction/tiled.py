def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i_0 in range((M + 7) // 8):
        for i_1 in range(8):
            if i_0 * 8 + i_1 < M:
                for j in range(N):
                    C[i_0 * 8 + i_1, j] = 0.0

    for i_0 in range((M + 7) // 8):
        for i_1 in range(8):
            if i_0 * 8 + i_1 < M:
                for j in range(N):
                    for k in range(K):
                        C[i_0 * 8 + i_1, j] += A[i_0 * 8 + i_1, k] * B[k, j]
