def copy(x, y):
    n = len(x)
    for i in range(n - 1):
        y[i] = x[i] + i

    if n > 0:
        y[n - 1] = x[n - 1] + (n - 1)
