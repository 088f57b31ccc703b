import numpy as np
from numba import njit, prange
from numpy import uint64


@njit(error_model="numpy", parallel={"fusion": False})
def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i_0 in prange((M + 15) // 16):
        for j_0 in range((N + 15) // 16):
            A_shared = np.empty((16, 16), np.float32)
            B_shared = np.empty((16, 16), np.float32)
            acc = np.empty((16, 16), np.float32)
            for i_1 in range(16):
                for j_1 in range(16):
                    acc[i_1, j_1] = 0.0
            for k_0 in range((K + 15) // 16):
                for i_1 in range(min(16, M - i_0 * 16)):
                    for k_1 in range(min(16, K - k_0 * 16)):
                        A_shared[i_1, k_1] = A[i_0 * 16 + i_1, k_0 * 16 + k_1]
                for k_1 in range(min(16, K - k_0 * 16)):
                    for j_1 in range(min(16, N - j_0 * 16)):
                        B_shared[k_1, j_1] = B[k_0 * 16 + k_1, uint64(j_0 * 16 + j_1)]
                for i_1 in range(min(16, M - i_0 * 16)):
                    for j_1 in range(min(16, N - j_0 * 16)):
                        for k_1 in range(min(16, K - k_0 * 16)):
                            acc[i_1, j_1] += A_shared[i_1, k_1] * B_shared[k_1, j_1]
            for i_1 in range(min(16, M - i_0 * 16)):
                for j_1 in range(min(16, N - j_0 * 16)):
                    C[i_0 * 16 + i_1, uint64(j_0 * 16 + j_1)] = acc[i_1, j_1]
