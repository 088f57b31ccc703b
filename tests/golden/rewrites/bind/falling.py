from astile.loops import block, thread


def f(x, y):
    n, m = x.shape
    for i in block.x(n):
        for j in thread.x(m):
            y[i, m - j - 1] += x[i, m - j - 1] * 2
