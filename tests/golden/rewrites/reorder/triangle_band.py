def f(y, n):
    for j in range(n):
        for i in range(n):
            if max(i - 1, 0) <= j < min(i + 2, n):
                y[i, j] += 1
