def copy(x, y):
    n = len(x)
    for i in range(1, n + 1, 4):
        y[i - 1] = x[i - 1] + (i - 1)
