def f(x, a, b):
    n = len(x)
    for i in range(n):
        a[i] = x[i]

    for i in range(n):
        b[i] = a[i] + 1
