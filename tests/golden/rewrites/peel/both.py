def copy(x, y):
    n = len(x)
    if n > 2:
        y[1] = x[1] + 1
    for i in range(2, n - 2):
        y[i] = x[i] + i

    if n >= 4:
        y[n - 2] = x[n - 2] + (n - 2)
