from astile.loops import unroll


def f(x, y):
    n = len(x)
    for i in unroll(4):
        y[i] += x[i] * 2
