from astile.loops import local


def columns(x, y):
    n, m = x.shape
    for i_0 in range((m + 15) // 16):
        y_local = local.empty(16, y.dtype)
        for y_0 in range(16):
            if i_0 * 16 + y_0 < m and i_0 * 16 + y_0 < y.shape[0]:
                y_local[y_0] = y[i_0 * 16 + y_0]
        for k in range(n):
            for i_1 in range(16):
                if i_0 * 16 + i_1 < m:
                    y_local[i_1] += x[k, i_0 * 16 + i_1]
        for y_0 in range(16):
            if i_0 * 16 + y_0 < m and i_0 * 16 + y_0 < y.shape[0]:
                y[i_0 * 16 + y_0] = y_local[y_0]
