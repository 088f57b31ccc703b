from astile.loops import local, parallel, unroll, vector


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for j_0 in range((N + 255) // 256):
        for i_0 in range((M + 3) // 4):
            for i_1 in range(4):
                if i_0 * 4 + i_1 < M:
                    for j_1 in range(256):
                        if j_0 * 256 + j_1 < N:
                            C[i_0 * 4 + i_1, j_0 * 256 + j_1] = 0.0
        for k_0 in range((K + 255) // 256):
            B_local = local.empty((256, 256), B.dtype)
            for B_0 in range(256):
                for B_1 in range(256):
                    if k_0 * 256 + B_0 < K and j_0 * 256 + B_1 < N and k_0 * 256 + B_0 < B.shape[0]:
                        B_local[B_0, B_1] = B[k_0 * 256 + B_0, j_0 * 256 + B_1]
            for i_0 in parallel((M + 3) // 4):
                A_local = local.empty((4, 256), A.dtype)
                for A_0 in range(4):
                    for A_1 in range(256):
                        if i_0 * 4 + A_0 < M and k_0 * 256 + A_1 < K:
                            A_local[A_0, A_1] = A[i_0 * 4 + A_0, k_0 * 256 + A_1]
                C_local = local.empty((4, 256), C.dtype)
                for C_0 in range(4):
                    for C_1 in range(256):
                        if i_0 * 4 + C_0 < M and j_0 * 256 + C_1 < N:
                            C_local[C_0, C_1] = C[i_0 * 4 + C_0, j_0 * 256 + C_1]
                if i_0 * 4 + 4 <= M and j_0 * 256 + 256 <= N and k_0 * 256 + 256 <= K:
                    for k_1 in range(64):
                        for j_1 in vector(256):
                            for i_1 in unroll(4):
                                for k_2 in unroll(4):
                                    C_local[i_1, j_1] += (
                                        A_local[i_1, k_1 * 4 + k_2] * B_local[k_1 * 4 + k_2, j_1]
                                    )
                else:
                    for k_1 in range(64):
                        for j_1 in vector(256):
                            if j_0 * 256 + j_1 < N:
                                for i_1 in unroll(4):
                                    if i_0 * 4 + i_1 < M:
                                        for k_2 in unroll(4):
                                            if k_0 * 256 + k_1 * 4 + k_2 < K:
                                                C_local[i_1, j_1] += (
                                                    A_local[i_1, k_1 * 4 + k_2]
                                                    * B_local[k_1 * 4 + k_2, j_1]
                                                )
                for C_0 in range(4):
                    for C_1 in range(256):
                        if i_0 * 4 + C_0 < M and j_0 * 256 + C_1 < N:
                            C[i_0 * 4 + C_0, j_0 * 256 + C_1] = C_local[C_0, C_1]
