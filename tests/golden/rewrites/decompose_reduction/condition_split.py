def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        if (K + 3) // 4 > 0:
            for j in range(N):
                C[i, j] = 0

    for i in range(M):
        for k_0 in range((K + 3) // 4):
            for j in range(N):
                for k_1 in range(4):
                    if k_0 * 4 + k_1 < K:
                        C[i, j] += A[i, k_0 * 4 + k_1] * B[k_0 * 4 + k_1, j]
