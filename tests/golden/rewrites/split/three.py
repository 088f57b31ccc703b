def copy(x, y):
    n = len(x)
    for i_0 in range((n + 31) // 32):
        for i_1 in range(4):
            for i_2 in range(8):
                if i_0 * 32 + i_1 * 8 + i_2 < n:
                    y[i_0 * 32 + i_1 * 8 + i_2] = x[i_0 * 32 + i_1 * 8 + i_2] + (
                        i_0 * 32 + i_1 * 8 + i_2
                    )
