def f(x, a, b):
    n = len(x)
    for i in range(n):
        a[i] = x[i] * 2
        b[i] = a[i] + 1
