from astile.loops import local


def sometimes(x, y):
    for i_0 in range((len(x) + 3) // 4):
        y_local = local.empty(4, y.dtype)
        for y_0 in range(4):
            if i_0 * 4 + y_0 < len(x) and i_0 * 4 + y_0 < y.shape[0]:
                y_local[y_0] = y[i_0 * 4 + y_0]
        for i_1 in range(4):
            if i_0 * 4 + i_1 < len(x):
                if x[i_0 * 4 + i_1] > 4:
                    y_local[i_1] = x[i_0 * 4 + i_1]
        for y_0 in range(4):
            if i_0 * 4 + y_0 < len(x) and i_0 * 4 + y_0 < y.shape[0]:
                y[i_0 * 4 + y_0] = y_local[y_0]
