from astile.loops import local


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        A_local = local.empty((1, K), A.dtype)
        for A_1 in range(K):
            A_local[0, A_1] = A[i, A_1]
        for j in range(N):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A_local[0, k] * B[k, j]
