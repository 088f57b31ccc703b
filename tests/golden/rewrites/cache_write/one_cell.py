from astile.loops import local


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C_local = local.empty((1, 1), C.dtype)
            C_local[0, 0] = 0.0
            for k in range(K):
                C_local[0, 0] += A[i, k] * B[k, j]
            C[i, j] = C_local[0, 0]
