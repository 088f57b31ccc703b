def f(x, y):
    n, m = x.shape
    for i_j_fused in range(n * 4):
        y[n - i_j_fused // 4 - 1, i_j_fused % 4 * 2] += (
            x[n - i_j_fused // 4 - 1, i_j_fused % 4 * 2] * (i_j_fused % 4 * 2)
        )
