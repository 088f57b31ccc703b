from astile.loops import shared


def strided(x, y):
    for i_0 in range((len(x) + 6) // 12):
        x_shared = shared.empty(5, x.dtype)
        for x_0 in range(5):
            if i_0 * 12 + x_0 * 3 < len(x) // 3 * 3 - 2:
                x_shared[x_0] = x[i_0 * 12 + x_0 * 3]
        for i_1 in range(4):
            if i_0 * 4 + i_1 < len(x) // 3 - 1:
                y[i_0 * 4 + i_1] = x_shared[i_1] * 2 + x_shared[i_1 + 1]
