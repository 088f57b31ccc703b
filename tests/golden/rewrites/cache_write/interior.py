from astile.loops import shared


def interior(x, y):
    n = len(x)
    for i_0 in range((n + 13) // 16):
        y_shared = shared.empty(16, y.dtype)
        for i_1 in range(16):
            if i_0 * 16 + i_1 < n - 2:
                y_shared[i_1] = x[i_0 * 16 + i_1] + x[i_0 * 16 + i_1 + 2]
        for y_0 in range(16):
            if i_0 * 16 + y_0 < n - 2:
                y[i_0 * 16 + y_0 + 1] = y_shared[y_0]
