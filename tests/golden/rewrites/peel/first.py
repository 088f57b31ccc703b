def copy(x, y):
    n = len(x)
    if n > 0:
        y[0] = x[0] + 0
    for i in range(1, n):
        y[i] = x[i] + i
