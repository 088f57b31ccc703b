def copy(x, y):
    n = len(x)
    for i_0 in range(4):
        for i_1 in range((n + 3) // 4):
            if i_0 * ((n + 3) // 4) + i_1 < n:
                y[i_0 * ((n + 3) // 4) + i_1] = x[i_0 * ((n + 3) // 4) + i_1] + (
                    i_0 * ((n + 3) // 4) + i_1
                )
