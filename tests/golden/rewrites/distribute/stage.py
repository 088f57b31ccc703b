def sobel(x, gx, gy):
    n, m = gx.shape
    for i in range(n):
        gx[i, 0] = 0.0
        for j in range(m):
            if j > 0:
                gx[i, j] = x[i, j + 1] - x[i, j]

    for i in range(n):
        for j in range(m):
            if j > 0:
                gy[i, j] = x[i + 1, j] - x[i, j]
        gy[i, 0] = 0.0
