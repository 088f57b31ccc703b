def f(x):
    n = len(x)
    for i_0 in range((n + 7) // 8):
        for i_1 in range(8):
            if i_0 * 8 + i_1 < n:
                x[i_0 * 8 + i_1] = x[i_0 * 8 + i_1] * 2
        for k in range(8):
            if i_0 * 8 + k < n:
                x[i_0 * 8 + k] += 1
