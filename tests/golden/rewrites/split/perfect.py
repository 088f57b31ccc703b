def f(y, m):
    n = 16 * m
    for i_0 in range(n // 16):
        for i_1 in range(16):
            y[i_0 * 16 + i_1] = i_0 * 16 + i_1
