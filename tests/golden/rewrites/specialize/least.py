def copy(x, y):
    n = len(x)
    if n >= 16 and not n % 16 > 0:
        for i_0 in range(n // 16):
            for i_1 in range(16):
                y[i_0 * 16 + i_1] = x[i_0 * 16 + i_1] + (i_0 * 16 + i_1)
    else:
        for i_0 in range((n + 15) // 16):
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n:
                    y[i_0 * 16 + i_1] = x[i_0 * 16 + i_1] + (i_0 * 16 + i_1)
