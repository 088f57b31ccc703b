from astile.loops import local


def strided(x, y):
    for i_0 in range((len(x) + 3) // 4):
        y_local = local.empty(4, y.dtype)
        for i_1 in range(4):
            if i_0 * 4 + i_1 < len(x):
                y_local[i_1] = x[i_0 * 4 + i_1]
        for y_0 in range(4):
            if i_0 * 8 + y_0 * 2 + 1 < len(x) * 2:
                y[i_0 * 8 + y_0 * 2 + 1] = y_local[y_0]
