from astile.loops import local, parallel, unroll, vector


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for j_0 in parallel((N + 63) // 64):
        B_local = local.empty((K, 64), B.dtype)
        for B_0 in range(K):
            for B_1 in vector(64):
                if j_0 * 64 + B_1 < N and B_0 < B.shape[0]:
                    B_local[B_0, B_1] = B[B_0, j_0 * 64 + B_1]
        for i_0 in range(M // 6):
            C_local = local.empty((6, 64), C.dtype)
            for i_1 in unroll(6):
                for j_1 in vector(64):
                    if j_0 * 64 + j_1 < N:
                        C_local[i_1, j_1] = 0.0
            for k_0 in range(K // 4):
                for k_1 in unroll(4):
                    for i_1 in unroll(6):
                        for j_1 in vector(64):
                            if j_0 * 64 + j_1 < N:
                                C_local[i_1, j_1] += (
                                    A[i_0 * 6 + i_1, k_0 * 4 + k_1] * B_local[k_0 * 4 + k_1, j_1]
                                )
            for k in range(K // 4 * 4, K):
                for i_1 in unroll(6):
                    for j_1 in vector(64):
                        if j_0 * 64 + j_1 < N:
                            C_local[i_1, j_1] += A[i_0 * 6 + i_1, k] * B_local[k, j_1]
            for C_0 in unroll(6):
                for C_1 in vector(64):
                    if j_0 * 64 + C_1 < N:
                        C[i_0 * 6 + C_0, j_0 * 64 + C_1] = C_local[C_0, C_1]
        for i in range(M // 6 * 6, M):
            C_local_1 = local.empty((1, 64), C.dtype)
            for j_1 in vector(64):
                if j_0 * 64 + j_1 < N:
                    C_local_1[0, j_1] = 0.0
            for k in range(K):
                for j_1 in vector(64):
                    if j_0 * 64 + j_1 < N:
                        C_local_1[0, j_1] += A[i, k] * B_local[k, j_1]
            for C_1_1 in vector(64):
                if j_0 * 64 + C_1_1 < N:
                    C[i, j_0 * 64 + C_1_1] = C_local_1[0, C_1_1]
