import numpy as np


def matmul(A, B, C):
    M, N = C.shape
    K = A.shape[1]
    for i in range(M):
        acc_tile = np.empty(N, np.result_type(0.0, A, B))
        for j in range(N):
            acc_tile[j] = 0.0
        for k in range(K):
            for j in range(N):
                acc_tile[j] += A[i, k] * B[k, j]
        for j in range(N):
            C[i, j] = acc_tile[j]
