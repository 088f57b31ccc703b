def f(x, a, b):
    n = len(x)
    for i in range(n - 1, -1, -1):
        a[i] = x[i] * 2
        if i > 0:
            b[i] = a[i] + 1
