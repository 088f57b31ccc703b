def sweep(y, steps):
    n = len(y)
    for t_0 in range((steps + 3) // 4):
        for i_0 in range(t_0 // 4, (n + t_0 * 4 + 1) // 16 + 1):
            for t_1 in range(4):
                if (
                    t_0 * 4 + t_1 < steps
                    and (t_0 * 4 + t_1 + 1) // 16 <= i_0 < (n + t_0 * 4 + t_1 + 14) // 16
                ):
                    for i_1 in range(16):
                        if t_0 * 4 + t_1 < i_0 * 16 + i_1 < n + t_0 * 4 + t_1 - 1:
                            y[i_0 * 16 + i_1 - t_0 * 4 - t_1] = (
                                y[i_0 * 16 + i_1 - t_0 * 4 - t_1 - 1]
                                + y[i_0 * 16 + i_1 - t_0 * 4 - t_1]
                                + y[i_0 * 16 + i_1 - t_0 * 4 - t_1 + 1]
                            )
