from astile.loops import unroll


def f(x, y):
    n = len(x)
    for i in unroll(9, -1, -1):
        y[i] += x[i] * 2
