def two(x, y, z):
    n, m = x.shape
    for i in range(n):
        z[i] = 5

    for i in range(n):
        y[i] = 0
        for k in range(m):
            y[i] += x[i, k]
            z[i] = min(z[i], x[i, k])
