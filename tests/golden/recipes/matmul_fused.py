from astile.loops import block, shared, thread


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i_0 in block.y((M + 15) // 16):
        for j_0 in block.x((N + 15) // 16):
            for i_1 in thread.y(16):
                if i_0 * 16 + i_1 < M:
                    for j_1 in thread.x(16):
                        if j_0 * 16 + j_1 < N:
                            C[i_0 * 16 + i_1, j_0 * 16 + j_1] = 0.0
            for k_0 in range((K + 23) // 24):
                A_shared = shared.empty((16, 24), A.dtype)
                for A_t in range(2):
                    for A_y in thread.y(16):
                        for A_x in thread.x(16):
                            if (
                                A_t * 256 + A_y * 16 + A_x < 384
                                and i_0 * 16 + (A_t * 256 + A_y * 16 + A_x) // 24 < M
                                and k_0 * 24 + (A_t * 256 + A_y * 16 + A_x) % 24 < K
                            ):
                                A_shared[
                                    (A_t * 256 + A_y * 16 + A_x) // 24,
                                    (A_t * 256 + A_y * 16 + A_x) % 24,
                                ] = A[
                                    i_0 * 16 + (A_t * 256 + A_y * 16 + A_x) // 24,
                                    k_0 * 24 + (A_t * 256 + A_y * 16 + A_x) % 24,
                                ]
                B_shared = shared.empty((24, 16), B.dtype)
                for B_t in range(2):
                    for B_y in thread.y(16):
                        for B_x in thread.x(16):
                            if (
                                B_t * 256 + B_y * 16 + B_x < 384
                                and k_0 * 24 + B_t * 16 + B_y < K
                                and j_0 * 16 + B_x < N
                            ):
                                B_shared[B_t * 16 + B_y, B_x] = B[
                                    k_0 * 24 + B_t * 16 + B_y, j_0 * 16 + B_x
                                ]
                for i_1 in thread.y(16):
                    if i_0 * 16 + i_1 < M:
                        for j_1 in thread.x(16):
                            if j_0 * 16 + j_1 < N:
                                for k_1 in range(24):
                                    if k_0 * 24 + k_1 < K:
                                        C[i_0 * 16 + i_1, j_0 * 16 + j_1] += (
                                            A_shared[i_1, k_1] * B_shared[k_1, j_1]
                                        )
