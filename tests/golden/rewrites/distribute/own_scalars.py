def f(x, y, z):
    for i in range(len(x)):
        t = x[i] * 2
        y[i] = t * t

    for i in range(len(x)):
        t = x[i] + 1
        z[i] = t / 2
