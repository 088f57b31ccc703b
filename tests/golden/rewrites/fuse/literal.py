def f(x, y):
    n, m = x.shape
    for i_j_fused in range(64):
        y[i_j_fused // 8, i_j_fused % 8 + 2] += x[i_j_fused // 8, i_j_fused % 8 + 2] * (
            i_j_fused % 8 + 2
        )
