from astile.loops import shared


def two(x, y, z):
    n = len(x)
    for i_0 in range((n + 7) // 8):
        for i in range(8):
            if i_0 * 8 + i < n:
                y[i_0 * 8 + i] = x[i_0 * 8 + i] * 2
        x_shared = shared.empty(8, x.dtype)
        for x_0 in range(8):
            if i_0 * 8 + x_0 + 1 < n:
                x_shared[x_0] = x[i_0 * 8 + x_0 + 1]
        for j in range(8):
            if i_0 * 8 + j < n - 1:
                z[i_0 * 8 + j] = x_shared[j] + 1
