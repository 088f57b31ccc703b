from numba import njit, prange
from numpy import float32, shares_memory


@njit(error_model="numpy", parallel={"fusion": False})
def jacobi_compiled(a, b):
    n, m = a.shape
    for i_0 in range((n + 17) // 64 + 2):
        for t_0 in prange(min(2, i_0 + 1)):
            if i_0 <= (n + t_0 * 10 + 7) // 64 + t_0:
                for i_1 in range(64):
                    for t_1 in range(5):
                        if t_0 * 74 + t_1 * 2 < i_0 * 64 + i_1 < t_0 * 74 + n + t_1 * 2:
                            if i_0 * 64 + i_1 - t_0 * 74 - t_1 * 2 < n - 1:
                                for j in range(1, m - 1):
                                    b[i_0 * 64 + i_1 - t_0 * 74 - t_1 * 2, j] = float32(0.25) * (
                                        a[i_0 * 64 + i_1 - t_0 * 74 - t_1 * 2 - 1, j]
                                        + a[i_0 * 64 + i_1 - t_0 * 74 - t_1 * 2 + 1, j]
                                        + a[i_0 * 64 + i_1 - t_0 * 74 - t_1 * 2, j - 1]
                                        + a[i_0 * 64 + i_1 - t_0 * 74 - t_1 * 2, j + 1]
                                    )
                            if 2 <= i_0 * 64 + i_1 - t_0 * 74 - t_1 * 2:
                                for j in range(1, m - 1):
                                    a[i_0 * 64 + i_1 - t_0 * 74 - t_1 * 2 - 1, j] = b[
                                        i_0 * 64 + i_1 - t_0 * 74 - t_1 * 2 - 1, j
                                    ]


def jacobi(a, b):
    types = a.dtype, a.ndim, b.dtype, b.ndim
    if types != (float32, 2, float32, 2):
        raise TypeError(
            "made for a: float32 of 2 axes, b: float32 of 2 axes; emit it with dtypes= for "
            "others; given "
            + str(types)
        )
    if shares_memory(a, b):
        raise ValueError("arrays meet in memory, and one of them is written: pass copies")
    if a.shape[0] >= 3 and a.shape[0] >= b.shape[0] + 2 and a.shape[1] >= 3:
        raise IndexError("b[i, j] leaves b along axis 0")
    if a.shape[0] >= 3 and a.shape[1] >= 3 and a.shape[1] >= b.shape[1] + 2:
        raise IndexError("b[i, j] leaves b along axis 1")
    return jacobi_compiled(a, b)
