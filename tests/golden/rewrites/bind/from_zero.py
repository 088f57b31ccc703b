from astile.loops import block, thread


def f(x, y):
    n, m = x.shape
    for i in block.x(n):
        for j in thread.x(m):
            y[i, j] += x[i, j] * 2
