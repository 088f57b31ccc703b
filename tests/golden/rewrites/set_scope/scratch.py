from astile.loops import local


def f(x, a, y):
    n = len(x)
    pass
    for i_0 in range((n + 7) // 8):
        a_local = local.empty(8, a.dtype)
        for i in range(8):
            if i_0 * 8 + i < n:
                a_local[i] = x[i_0 * 8 + i] * 2
        for i_1 in range(8):
            if i_0 * 8 + i_1 < n:
                y[i_0 * 8 + i_1] = a_local[i_1] + 1
