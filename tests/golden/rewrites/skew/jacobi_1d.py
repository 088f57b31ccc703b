def jacobi_1d(a, b, steps):
    n = len(a)
    for t_0 in range((steps + 3) // 4):
        for i_0 in range(t_0, t_0 + (n + 5) // 8 + 1):
            for t_1 in range(4):
                if t_0 * 4 + t_1 < steps and i_0 < t_0 + (n + t_1 * 2 + 7) // 8:
                    for i_1 in range(8):
                        if t_0 * 8 + t_1 * 2 < i_0 * 8 + i_1 < n + t_0 * 8 + t_1 * 2:
                            if i_0 * 8 + i_1 - (t_0 * 4 + t_1) * 2 < n - 1:
                                b[i_0 * 8 + i_1 - (t_0 * 4 + t_1) * 2] = (
                                    a[i_0 * 8 + i_1 - (t_0 * 4 + t_1) * 2 - 1]
                                    + a[i_0 * 8 + i_1 - (t_0 * 4 + t_1) * 2]
                                    + a[i_0 * 8 + i_1 - (t_0 * 4 + t_1) * 2 + 1]
                                ) / 3
                            if 2 <= i_0 * 8 + i_1 - (t_0 * 4 + t_1) * 2:
                                a[i_0 * 8 + i_1 - (t_0 * 4 + t_1) * 2 - 1] = (
                                    b[i_0 * 8 + i_1 - (t_0 * 4 + t_1) * 2 - 2]
                                    + b[i_0 * 8 + i_1 - (t_0 * 4 + t_1) * 2 - 1]
                                    + b[i_0 * 8 + i_1 - (t_0 * 4 + t_1) * 2]
                                ) / 3
