from astile.loops import shared


def lower(x, y):
    n = len(x)
    for i_0 in range((n + 7) // 8):
        for j_0 in range(i_0 + 1):
            y_shared = shared.empty((8, 8), y.dtype)
            for y_0 in range(8):
                for y_1 in range(8):
                    if i_0 * 8 + y_0 < n and j_0 * 8 + y_1 < y.shape[1]:
                        y_shared[y_0, y_1] = y[i_0 * 8 + y_0, j_0 * 8 + y_1]
            for i_1 in range(8):
                if i_0 * 8 + i_1 < n:
                    for j_1 in range(8):
                        if j_0 * 8 + j_1 <= i_0 * 8 + i_1:
                            y_shared[i_1, j_1] = x[i_0 * 8 + i_1] + (j_0 * 8 + j_1)
            for y_0 in range(8):
                for y_1 in range(8):
                    if i_0 * 8 + y_0 < n and j_0 * 8 + y_1 < y.shape[1]:
                        y[i_0 * 8 + y_0, j_0 * 8 + y_1] = y_shared[y_0, y_1]
