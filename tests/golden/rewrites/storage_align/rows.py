from astile.loops import shared


def transposed(x, y):
    n, m = x.shape
    for i_0 in range((n + 31) // 32):
        for j_0 in range((m + 31) // 32):
            # axis 1 is padded from 32 to 33 cells
            tile = shared.empty((32, 33), x.dtype)
            for i_1 in range(32):
                for j_1 in range(32):
                    if i_0 * 32 + i_1 < n and j_0 * 32 + j_1 < m:
                        tile[i_1, j_1] = x[i_0 * 32 + i_1, j_0 * 32 + j_1]
            for j_1 in range(32):
                for i_1 in range(32):
                    if i_0 * 32 + i_1 < n and j_0 * 32 + j_1 < m:
                        y[j_0 * 32 + j_1, i_0 * 32 + i_1] = tile[i_1, j_1]
