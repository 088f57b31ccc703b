def f(y, n):
    for j in range(n - 1, 0, -1):
        for i in range(n):
            if i < j:
                y[i, j] += 1
