def copy(x, y):
    n = len(x)
    for i_0 in range(n // 16):
        for i_1 in range(16):
            y[i_0 * 16 + i_1] = x[i_0 * 16 + i_1] + (i_0 * 16 + i_1)

    for i in range(n // 16 * 16, n):
        y[i] = x[i] + i
