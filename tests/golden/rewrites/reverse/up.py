def copy(x, y):
    n = len(x)
    for i in range(n - 1, -1, -1):
        y[i] = x[i] + i
