def f(y, n):
    for j in range(n):
        for i in range(n):
            if i <= j:
                y[i, j] += 1
