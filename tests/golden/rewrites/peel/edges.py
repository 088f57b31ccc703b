def edges(x, y):
    n, m = x.shape
    if n > 0:
        for j in range(m):
            y[0, j] = x[0, j] + x[min(1, n - 1), j]
    for i in range(1, n - 1):
        for j in range(m):
            y[i, j] = x[i - 1, j] + x[i + 1, j]

    if n >= 2:
        for j in range(m):
            y[n - 1, j] = x[max(n - 2, 0), j] + x[n - 1, j]
