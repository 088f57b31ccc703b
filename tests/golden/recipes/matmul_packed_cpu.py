import numpy as np
from numba import njit, prange
from numpy import uint64


@njit(error_model="numpy", parallel={"fusion": False})
def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for j_0 in prange((N + 63) // 64):
        B_local = np.empty((K, 64), B.dtype)
        for B_0 in range(min(K, B.shape[0])):
            for B_1 in range(min(64, N - j_0 * 64)):
                B_local[B_0, B_1] = B[B_0, uint64(j_0 * 64 + B_1)]
        for i_0 in range(M // 6):
            C_local = np.empty((6, 64), C.dtype)
            for i_1 in range(6):
                for j_1 in range(min(64, N - j_0 * 64)):
                    C_local[i_1, j_1] = 0.0
            for k_0 in range(K // 4):
                for k_1 in range(4):
                    for i_1 in range(6):
                        for j_1 in range(min(64, N - j_0 * 64)):
                            C_local[i_1, j_1] += (
                                A[i_0 * 6 + i_1, k_0 * 4 + k_1] * B_local[k_0 * 4 + k_1, j_1]
                            )
            for k in range(K // 4 * 4, K):
                for i_1 in range(6):
                    for j_1 in range(min(64, N - j_0 * 64)):
                        C_local[i_1, j_1] += A[i_0 * 6 + i_1, uint64(k)] * B_local[uint64(k), j_1]
            for C_0 in range(6):
                for C_1 in range(min(64, N - j_0 * 64)):
                    C[i_0 * 6 + C_0, uint64(j_0 * 64 + C_1)] = C_local[C_0, C_1]
        for i in range(M // 6 * 6, M):
            C_local_1 = np.empty((1, 64), C.dtype)
            for j_1 in range(min(64, N - j_0 * 64)):
                C_local_1[0, j_1] = 0.0
            for k in range(K):
                for j_1 in range(min(64, N - j_0 * 64)):
                    C_local_1[0, j_1] += A[uint64(i), k] * B_local[k, j_1]
            for C_1_1 in range(min(64, N - j_0 * 64)):
                C[uint64(i), uint64(j_0 * 64 + C_1_1)] = C_local_1[0, C_1_1]
