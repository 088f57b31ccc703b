def f(y, n):
    for j in range(n):
        for i in range(n):
            if i <= j and (j - i) % 2 == 0:
                y[i, j] += 1
