from astile.loops import unroll


def f(x, y):
    n = len(x)
    for i_0 in range(n // 4):
        for i_1 in unroll(4):
            y[i_0 * 4 + i_1] += x[i_0 * 4 + i_1] * 2

    for i in range(n // 4 * 4, n):
        y[i] += x[i] * 2
