def f(y):
    for i_0 in range(14):
        for i_1 in range(16):
            y[i_0 * 16 + i_1] = i_0 * 16 + i_1
