def copy(x, y):
    n = len(x)
    for i in range(2, n + 2):
        y[i - 2] = x[i - 2] + (i - 2)
