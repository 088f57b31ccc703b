from astile.loops import vector


def f(x, y):
    n = len(x)
    for i in vector(n - 1, -1, -1):
        y[i] = x[i] * 2
