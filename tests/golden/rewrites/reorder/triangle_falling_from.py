def f(y, n):
    for j in range(n - 1, -1, -1):
        for i in range(n):
            if j <= i and (i - j) % 2 == 0:
                y[i, j] += 1
