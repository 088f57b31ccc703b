def copy(x, y):
    n = len(x)
    for i in range(n, 0, -1):
        y[i - 1] = x[i - 1] + (i - 1)
