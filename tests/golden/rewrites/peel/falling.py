def copy(x, y):
    n = len(x)
    if n > 0:
        y[n - 1] = x[n - 1] + (n - 1)
    for i in range(n - 2, 0, -1):
        y[i] = x[i] + i

    if n >= 2:
        y[0] = x[0] + 0
