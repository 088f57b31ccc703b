def f(x, a, b):
    n, m = x.shape
    for i in range(n):
        a[i] = 1.0

    for j in range(m):
        for i in range(n):
            b[i, j] = x[i, j]

    for i in range(n):
        a[i] = a[i] * 2
