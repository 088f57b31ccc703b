from astile.loops import vector


def f(x, y):
    n = len(x)
    for i in vector(n):
        y[i] = x[i] * 2
