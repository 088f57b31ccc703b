def sums(x, y):
    n, m = x.shape
    for i in range(n):
        s = 0.0
        for k_0 in range((m + 7) // 8):
            for k_1 in range(8):
                if k_0 * 8 + k_1 < m:
                    s += x[i, k_0 * 8 + k_1]
        y[i] = s
