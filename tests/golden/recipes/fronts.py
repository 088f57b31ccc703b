from astile.loops import parallel


def jacobi(a, b):
    n, m = a.shape
    for i_0 in range((n + 17) // 64 + 2):
        for t_0 in parallel(2):
            if t_0 <= i_0 <= (n + t_0 * 10 + 7) // 64 + t_0:
                for i_1 in range(64):
                    for t_1 in range(5):
                        if t_0 * 74 + t_1 * 2 < i_0 * 64 + i_1 < t_0 * 74 + n + t_1 * 2:
                            if i_0 * 64 + i_1 - t_0 * 74 - t_1 * 2 < n - 1:
                                for j in range(1, m - 1):
                                    b[i_0 * 64 + i_1 - t_0 * 74 - t_1 * 2, j] = 0.25 * (
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
