def copy(x, y):
    n = len(x)
    for i in range(2):
        if i < n:
            y[i] = x[i] + i

    for i in range(2, n - 3):
        y[i] = x[i] + i

    for i in range(n - 3, n):
        if i >= 2:
            y[i] = x[i] + i
