def copy(x, y):
    n = len(x)
    for i in range(0, (n + 3) // 4 * 4 - 4, 4):
        y[i] = x[i] + i

    if (n + 3) // 4 * 4 >= 4:
        y[(n + 3) // 4 * 4 - 4] = x[(n + 3) // 4 * 4 - 4] + ((n + 3) // 4 * 4 - 4)
