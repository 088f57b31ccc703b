def f(x, y):
    n, m = x.shape
    for k in range(3):
        for j in range(m):
            for i in range(n):
                y[i, j, k] = x[i, j] * k
