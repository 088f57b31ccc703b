from astile.loops import local


def running(x):
    for i_0 in range((len(x) + 2) // 4):
        x_local = local.empty(5, x.dtype)
        for x_0 in range(5):
            if i_0 * 4 + x_0 < len(x):
                x_local[x_0] = x[i_0 * 4 + x_0]
        for i_1 in range(4):
            if i_0 * 4 + i_1 + 1 < len(x):
                x_local[i_1 + 1] += x_local[i_1]
        for x_0 in range(4):
            if i_0 * 4 + x_0 + 1 < len(x):
                x[i_0 * 4 + x_0 + 1] = x_local[x_0 + 1]
