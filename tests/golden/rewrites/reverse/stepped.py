def copy(x, y):
    n = len(x)
    for i in range((n + 1) // 3 * 3 - 2, -2, -3):
        y[i] = x[i] + i
