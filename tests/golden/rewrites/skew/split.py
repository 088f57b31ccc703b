def sweep(y, steps):
    n = len(y)
    for t in range(steps):
        for i_0 in range((t + 1) // 16, (n + t + 14) // 16):
            for i_1 in range(16):
                if t < i_0 * 16 + i_1 < n + t - 1:
                    y[i_0 * 16 + i_1 - t] = (
                        y[i_0 * 16 + i_1 - t - 1]
                        + y[i_0 * 16 + i_1 - t]
                        + y[i_0 * 16 + i_1 - t + 1]
                    )
