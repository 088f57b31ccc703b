import numpy as np
from numba import njit, prange
from numpy import uint64


@njit(error_model="numpy", parallel={"fusion": False})
def matmul_registers(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i_0 in prange((M + 7) // 8):
        for j_0 in range((N + 31) // 32):
            acc = np.empty((8, 32), np.float32)
            for i_1 in range(4):
                for j_1 in range(8):
                    for i_2 in range(2):
                        for j_2 in range(4):
                            acc[i_1 * 2 + i_2, j_2 * 8 + j_1] = 0.0
            for k in range(K):
                for i_1 in range(4):
                    for j_1 in range(8):
                        for i_2 in range(min(2, M - i_0 * 8 - i_1 * 2)):
                            for j_2 in range(4):
                                if j_0 * 32 + j_2 * 8 + j_1 < N:
                                    acc[i_1 * 2 + i_2, j_2 * 8 + j_1] += (
                                        A[i_0 * 8 + i_1 * 2 + i_2, k]
                                        * B[k, uint64(j_0 * 32 + j_2 * 8 + j_1)]
                                    )
            for i_1 in range(4):
                for j_1 in range(8):
                    for i_2 in range(min(2, M - i_0 * 8 - i_1 * 2)):
                        for j_2 in range(4):
                            if j_0 * 32 + j_2 * 8 + j_1 < N:
                                C[i_0 * 8 + i_1 * 2 + i_2, uint64(j_0 * 32 + j_2 * 8 + j_1)] = acc[
                                    i_1 * 2 + i_2, j_2 * 8 + j_1
                                ]
