from numba import njit

from astile.intrinsics.vectors import below, load, load_where, store, store_where


@njit(error_model="numpy")
def neighbours(a, b):
    n, m = a.shape
    for i in range(n):
        j_end = max(0, m - 2) // 16 * 16 + 1
        if 33 <= j_end:
            b_older = load(a, (i, 0), 16) + load(a, (i, 2), 16)
            b_old = load(a, (i, 16), 16) + load(a, (i, 18), 16)
            for j in range(33, j_end, 16):
                b_new = load(a, (i, j - 1), 16) + load(a, (i, j + 1), 16)
                store(b, (i, j - 32), b_older)
                b_older = b_old
                b_old = b_new
            store(b, (i, j_end - 32), b_older)
            store(b, (i, j_end - 16), b_old)
        else:
            for j in range(1, j_end, 16):
                store(b, (i, j), load(a, (i, j - 1), 16) + load(a, (i, j + 1), 16))
        if j_end < m - 1:
            inside = below(j_end, m - 1, 16)
            store_where(
                inside,
                b,
                (i, j_end),
                load_where(inside, a, (i, j_end - 1)) + load_where(inside, a, (i, j_end + 1)),
            )
