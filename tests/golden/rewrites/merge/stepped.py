def f(x, a, b):
    n = len(x)
    for i in range(0, n, 3):
        a[i] = x[i] * 2
        if i < n - 4:
            b[i] = a[i] + 1
