def f(x, y):
    n, m = x.shape
    for j in range(m):
        for i in range(n):
            if i > 0:
                y[i, j] = x[i - 1, j]
