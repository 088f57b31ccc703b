import numpy as np

from astile.loops import local


def matmul(A, B, C):
    M, N = C.shape
    K = A.shape[1]
    for i_0 in range((M + 15) // 16):
        for j_0 in range((N + 15) // 16):
            acc_tile = local.empty((16, 16), np.result_type(0.0, A, B))
            for i_1 in range(16):
                if i_0 * 16 + i_1 < M:
                    for j_1 in range(16):
                        if j_0 * 16 + j_1 < N:
                            acc_tile[i_1, j_1] = 0.0
            for k_0 in range((K + 15) // 16):
                for i_1 in range(16):
                    if i_0 * 16 + i_1 < M:
                        for j_1 in range(16):
                            if j_0 * 16 + j_1 < N:
                                for k_1 in range(16):
                                    if k_0 * 16 + k_1 < K:
                                        acc_tile[i_1, j_1] += (
                                            A[i_0 * 16 + i_1, k_0 * 16 + k_1]
                                            * B[k_0 * 16 + k_1, j_0 * 16 + j_1]
                                        )
            for i_1 in range(16):
                if i_0 * 16 + i_1 < M:
                    for j_1 in range(16):
                        if j_0 * 16 + j_1 < N:
                            C[i_0 * 16 + i_1, j_0 * 16 + j_1] = acc_tile[i_1, j_1]
