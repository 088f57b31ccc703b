from numba import cuda
from numpy import float32


@cuda.jit
def jacobi_kernel(a, b, n, m):
    # no loop here is bound to blocks or threads: one thread runs it
    for t_0 in range(2):
        for i_0 in range((n + t_0 * 10 + 7) // 32 + 1):
            for j_0 in range((m + t_0 * 10 + 7) // 32 + 1):
                for t_1 in range(5):
                    if (
                        i_0 < (n + t_0 * 10 + t_1 * 2 + 31) // 32
                        and j_0 < (m + t_0 * 10 + t_1 * 2 + 31) // 32
                    ):
                        for i_1 in range(-(t_1 * 2), 32 - t_1 * 2):
                            if t_0 * 10 < i_0 * 32 + i_1 < n + t_0 * 10:
                                for j_1 in range(-(t_1 * 2), 32 - t_1 * 2):
                                    if t_0 * 10 < j_0 * 32 + j_1 < m + t_0 * 10:
                                        if (
                                            j_0 * 32 + j_1 - t_0 * 10 < m - 1
                                            and i_0 * 32 + i_1 - t_0 * 10 < n - 1
                                        ):
                                            b[
                                                i_0 * 32 + i_1 - t_0 * 10, j_0 * 32 + j_1 - t_0 * 10
                                            ] = float32(0.25) * (
                                                a[
                                                    i_0 * 32 + i_1 - t_0 * 10 - 1,
                                                    j_0 * 32 + j_1 - t_0 * 10,
                                                ]
                                                + a[
                                                    i_0 * 32 + i_1 - t_0 * 10 + 1,
                                                    j_0 * 32 + j_1 - t_0 * 10,
                                                ]
                                                + a[
                                                    i_0 * 32 + i_1 - t_0 * 10,
                                                    j_0 * 32 + j_1 - t_0 * 10 - 1,
                                                ]
                                                + a[
                                                    i_0 * 32 + i_1 - t_0 * 10,
                                                    j_0 * 32 + j_1 - t_0 * 10 + 1,
                                                ]
                                            )
                                        if (
                                            2 <= j_0 * 32 + j_1 - t_0 * 10
                                            and 2 <= i_0 * 32 + i_1 - t_0 * 10
                                        ):
                                            a[
                                                i_0 * 32 + i_1 - t_0 * 10 - 1,
                                                j_0 * 32 + j_1 - t_0 * 10 - 1,
                                            ] = b[
                                                i_0 * 32 + i_1 - t_0 * 10 - 1,
                                                j_0 * 32 + j_1 - t_0 * 10 - 1,
                                            ]


def jacobi(a, b):
    n, m = a.shape
    jacobi_kernel[1, 1](a, b, n, m)
