def copy(x, y):
    n = len(x)
    for i in range(n):
        y[i] = x[i] + i
