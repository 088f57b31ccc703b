def copy(x, y):
    n = len(x)
    for i in range(n - 3):
        y[i + 3] = x[i + 3] + (i + 3)
