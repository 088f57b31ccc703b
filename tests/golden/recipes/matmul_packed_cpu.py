from numba import njit, prange
from numpy import float32, shares_memory, uint64

from astile.intrinsics.linked_once import linked_once
from astile.intrinsics.vectors import (
    below, empty_aligned, fma, get, load, load_where, splat, store_where, unrolled
)


@linked_once
@njit(error_model="numpy")
def matmul_part(K, B, j_0, N, M, A, C):
    B_local = empty_aligned((K, 64), B.dtype)
    for B_0 in range(min(K, B.shape[0])):
        inside = below(j_0 * 64, N, 16)
        store_where(inside, B_local, (B_0, 0), load_where(inside, B, (B_0, j_0 * 64)))
        inside_1 = below(j_0 * 64 + 16, N, 16)
        store_where(inside_1, B_local, (B_0, 16), load_where(inside_1, B, (B_0, j_0 * 64 + 16)))
        inside_2 = below(j_0 * 64 + 32, N, 16)
        store_where(inside_2, B_local, (B_0, 32), load_where(inside_2, B, (B_0, j_0 * 64 + 32)))
        inside_3 = below(j_0 * 64 + 48, N, 16)
        store_where(inside_3, B_local, (B_0, 48), load_where(inside_3, B, (B_0, j_0 * 64 + 48)))

    for i_0 in range(M // 6):
        C_local_0_0 = splat(float32(0.0), 16)
        C_local_0_1 = splat(float32(0.0), 16)
        C_local_0_2 = splat(float32(0.0), 16)
        C_local_0_3 = splat(float32(0.0), 16)
        C_local_1_0 = splat(float32(0.0), 16)
        C_local_1_1 = splat(float32(0.0), 16)
        C_local_1_2 = splat(float32(0.0), 16)
        C_local_1_3 = splat(float32(0.0), 16)
        C_local_2_0 = splat(float32(0.0), 16)
        C_local_2_1 = splat(float32(0.0), 16)
        C_local_2_2 = splat(float32(0.0), 16)
        C_local_2_3 = splat(float32(0.0), 16)
        C_local_3_0 = splat(float32(0.0), 16)
        C_local_3_1 = splat(float32(0.0), 16)
        C_local_3_2 = splat(float32(0.0), 16)
        C_local_3_3 = splat(float32(0.0), 16)
        C_local_4_0 = splat(float32(0.0), 16)
        C_local_4_1 = splat(float32(0.0), 16)
        C_local_4_2 = splat(float32(0.0), 16)
        C_local_4_3 = splat(float32(0.0), 16)
        C_local_5_0 = splat(float32(0.0), 16)
        C_local_5_1 = splat(float32(0.0), 16)
        C_local_5_2 = splat(float32(0.0), 16)
        C_local_5_3 = splat(float32(0.0), 16)
        for k in range(K):
            A_s = splat(get(A, (i_0 * 6, k)), 16)
            B_local_v = load(B_local, (k, 0), 16)
            C_local_0_0 = fma(A_s, B_local_v, C_local_0_0)
            B_local_v_1 = load(B_local, (k, 16), 16)
            C_local_0_1 = fma(A_s, B_local_v_1, C_local_0_1)
            B_local_v_2 = load(B_local, (k, 32), 16)
            C_local_0_2 = fma(A_s, B_local_v_2, C_local_0_2)
            B_local_v_3 = load(B_local, (k, 48), 16)
            C_local_0_3 = fma(A_s, B_local_v_3, C_local_0_3)
            A_s_1 = splat(get(A, (i_0 * 6 + 1, k)), 16)
            C_local_1_0 = fma(A_s_1, B_local_v, C_local_1_0)
            C_local_1_1 = fma(A_s_1, B_local_v_1, C_local_1_1)
            C_local_1_2 = fma(A_s_1, B_local_v_2, C_local_1_2)
            C_local_1_3 = fma(A_s_1, B_local_v_3, C_local_1_3)
            A_s_2 = splat(get(A, (i_0 * 6 + 2, k)), 16)
            C_local_2_0 = fma(A_s_2, B_local_v, C_local_2_0)
            C_local_2_1 = fma(A_s_2, B_local_v_1, C_local_2_1)
            C_local_2_2 = fma(A_s_2, B_local_v_2, C_local_2_2)
            C_local_2_3 = fma(A_s_2, B_local_v_3, C_local_2_3)
            A_s_3 = splat(get(A, (i_0 * 6 + 3, k)), 16)
            C_local_3_0 = fma(A_s_3, B_local_v, C_local_3_0)
            C_local_3_1 = fma(A_s_3, B_local_v_1, C_local_3_1)
            C_local_3_2 = fma(A_s_3, B_local_v_2, C_local_3_2)
            C_local_3_3 = fma(A_s_3, B_local_v_3, C_local_3_3)
            A_s_4 = splat(get(A, (i_0 * 6 + 4, k)), 16)
            C_local_4_0 = fma(A_s_4, B_local_v, C_local_4_0)
            C_local_4_1 = fma(A_s_4, B_local_v_1, C_local_4_1)
            C_local_4_2 = fma(A_s_4, B_local_v_2, C_local_4_2)
            C_local_4_3 = fma(A_s_4, B_local_v_3, C_local_4_3)
            A_s_5 = splat(get(A, (i_0 * 6 + 5, k)), 16)
            C_local_5_0 = fma(A_s_5, B_local_v, C_local_5_0)
            C_local_5_1 = fma(A_s_5, B_local_v_1, C_local_5_1)
            C_local_5_2 = fma(A_s_5, B_local_v_2, C_local_5_2)
            C_local_5_3 = fma(A_s_5, B_local_v_3, C_local_5_3)
            unrolled(4)
        inside_4 = below(j_0 * 64, N, 16)
        store_where(inside_4, C, (i_0 * 6, j_0 * 64), C_local_0_0)
        inside_5 = below(j_0 * 64 + 16, N, 16)
        store_where(inside_5, C, (i_0 * 6, j_0 * 64 + 16), C_local_0_1)
        inside_6 = below(j_0 * 64 + 32, N, 16)
        store_where(inside_6, C, (i_0 * 6, j_0 * 64 + 32), C_local_0_2)
        inside_7 = below(j_0 * 64 + 48, N, 16)
        store_where(inside_7, C, (i_0 * 6, j_0 * 64 + 48), C_local_0_3)
        store_where(inside_4, C, (i_0 * 6 + 1, j_0 * 64), C_local_1_0)
        store_where(inside_5, C, (i_0 * 6 + 1, j_0 * 64 + 16), C_local_1_1)
        store_where(inside_6, C, (i_0 * 6 + 1, j_0 * 64 + 32), C_local_1_2)
        store_where(inside_7, C, (i_0 * 6 + 1, j_0 * 64 + 48), C_local_1_3)
        store_where(inside_4, C, (i_0 * 6 + 2, j_0 * 64), C_local_2_0)
        store_where(inside_5, C, (i_0 * 6 + 2, j_0 * 64 + 16), C_local_2_1)
        store_where(inside_6, C, (i_0 * 6 + 2, j_0 * 64 + 32), C_local_2_2)
        store_where(inside_7, C, (i_0 * 6 + 2, j_0 * 64 + 48), C_local_2_3)
        store_where(inside_4, C, (i_0 * 6 + 3, j_0 * 64), C_local_3_0)
        store_where(inside_5, C, (i_0 * 6 + 3, j_0 * 64 + 16), C_local_3_1)
        store_where(inside_6, C, (i_0 * 6 + 3, j_0 * 64 + 32), C_local_3_2)
        store_where(inside_7, C, (i_0 * 6 + 3, j_0 * 64 + 48), C_local_3_3)
        store_where(inside_4, C, (i_0 * 6 + 4, j_0 * 64), C_local_4_0)
        store_where(inside_5, C, (i_0 * 6 + 4, j_0 * 64 + 16), C_local_4_1)
        store_where(inside_6, C, (i_0 * 6 + 4, j_0 * 64 + 32), C_local_4_2)
        store_where(inside_7, C, (i_0 * 6 + 4, j_0 * 64 + 48), C_local_4_3)
        store_where(inside_4, C, (i_0 * 6 + 5, j_0 * 64), C_local_5_0)
        store_where(inside_5, C, (i_0 * 6 + 5, j_0 * 64 + 16), C_local_5_1)
        store_where(inside_6, C, (i_0 * 6 + 5, j_0 * 64 + 32), C_local_5_2)
        store_where(inside_7, C, (i_0 * 6 + 5, j_0 * 64 + 48), C_local_5_3)

    for i in range(M // 6 * 6, M):
        C_local_1_0_0 = splat(float32(0.0), 16)
        C_local_1_0_1 = splat(float32(0.0), 16)
        C_local_1_0_2 = splat(float32(0.0), 16)
        C_local_1_0_3 = splat(float32(0.0), 16)
        for k in range(K):
            A_s_6 = splat(get(A, (i, k)), 16)
            C_local_1_0_0 = fma(A_s_6, load(B_local, (k, 0), 16), C_local_1_0_0)
            C_local_1_0_1 = fma(A_s_6, load(B_local, (k, 16), 16), C_local_1_0_1)
            C_local_1_0_2 = fma(A_s_6, load(B_local, (k, 32), 16), C_local_1_0_2)
            C_local_1_0_3 = fma(A_s_6, load(B_local, (k, 48), 16), C_local_1_0_3)
        store_where(below(j_0 * 64, N, 16), C, (i, j_0 * 64), C_local_1_0_0)
        store_where(below(j_0 * 64 + 16, N, 16), C, (i, j_0 * 64 + 16), C_local_1_0_1)
        store_where(below(j_0 * 64 + 32, N, 16), C, (i, j_0 * 64 + 32), C_local_1_0_2)
        store_where(below(j_0 * 64 + 48, N, 16), C, (i, j_0 * 64 + 48), C_local_1_0_3)


@njit(error_model="numpy", parallel={"fusion": False})
def matmul_compiled(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for j_0 in prange((N + 63) // 64):
        matmul_part(K, B, uint64(j_0), N, M, A, C)


def matmul(A, B, C):
    types = A.dtype, A.ndim, B.dtype, B.ndim, C.dtype, C.ndim
    if types != (float32, 2, float32, 2, float32, 2):
        raise TypeError(
            "made for A: float32 of 2 axes, B: float32 of 2 axes, C: float32 of 2 axes; emit it "
            "with dtypes= for others; given "
            + str(types)
        )
    if shares_memory(A, C) or shares_memory(B, C):
        raise ValueError("arrays meet in memory, and one of them is written: pass copies")
    if A.shape[0] >= C.shape[0] + 1 and B.shape[1] >= 1:
        raise IndexError("C[i, j] leaves C along axis 0")
    if A.shape[0] >= 1 and B.shape[1] >= C.shape[1] + 1:
        raise IndexError("C[i, j] leaves C along axis 1")
    if A.shape[0] >= 1 and A.shape[1] >= B.shape[0] + 1 and B.shape[1] >= 1:
        raise IndexError("B[k, j] leaves B along axis 0")
    return matmul_compiled(A, B, C)
