def f(y, n):
    for j in range(n):
        for i in range(n):
            if j <= i:
                y[i, j] += 1
