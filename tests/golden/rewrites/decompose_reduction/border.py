def border(x, y):
    n, m = x.shape
    for i in range(n):
        if i < 3:
            y[i] = 7
        else:
            y[i] = x[i, 0]

    for i in range(n):
        for k in range(1, m):
            y[i] += x[i, k]
