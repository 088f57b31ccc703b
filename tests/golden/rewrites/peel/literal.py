def copy(x, y):
    n = len(x)
    y[0] = x[0] + 0
    for i in range(1, 6):
        y[i] = x[i] + i

    for i in range(6, 8):
        y[i] = x[i] + i
