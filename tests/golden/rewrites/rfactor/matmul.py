import numpy as np


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0

    C_rf = np.empty((C.shape[0], C.shape[1], (K + 3) // 4), C.dtype)
    for i in range(M):
        for j in range(N):
            for k_0 in range((K + 3) // 4):
                C_rf[i, j, k_0] = 0

    for k_0 in range((K + 3) // 4):
        for i in range(M):
            for j in range(N):
                for k_1 in range(4):
                    if k_0 * 4 + k_1 < K:
                        C_rf[i, j, k_0] += A[i, k_0 * 4 + k_1] * B[k_0 * 4 + k_1, j]

    for i in range(M):
        for j in range(N):
            for k_0 in range((K + 3) // 4):
                C[i, j] += C_rf[i, j, k_0]
