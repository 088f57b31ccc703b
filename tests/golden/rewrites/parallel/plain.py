from astile.loops import parallel


def f(x, y):
    n = len(x)
    for i in parallel(n):
        y[i] = x[i] * 2
