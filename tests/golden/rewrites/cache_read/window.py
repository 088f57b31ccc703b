from astile.loops import shared


def window(x, y):
    n = len(x)
    for i_0 in range((n + 13) // 16):
        x_shared = shared.empty(18, x.dtype)
        for x_0 in range(18):
            if i_0 * 16 + x_0 < n:
                x_shared[x_0] = x[i_0 * 16 + x_0]
        for i_1 in range(16):
            if i_0 * 16 + i_1 < n - 2:
                y[i_0 * 16 + i_1] = x_shared[i_1] + x_shared[i_1 + 1] + x_shared[i_1 + 2]
