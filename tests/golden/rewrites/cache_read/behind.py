from astile.loops import local


def f(x, a, y):
    for i in range(len(x)):
        for j in range(8):
            a[i, j] = x[i] * j
        a_local = local.empty((1, 8), a.dtype)
        for a_1 in range(8):
            a_local[0, a_1] = a[i, a_1]
        for j in range(7):
            y[i, j] = a_local[0, j] + a_local[0, j + 1]
