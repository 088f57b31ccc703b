def f(x, y):
    n, m = x.shape
    for i_0 in range((n + 3) // 4):
        for i_1_j_fused in range(m * 4):
            if i_0 * 4 + i_1_j_fused // m < n:
                y[i_0 * 4 + i_1_j_fused // m, i_1_j_fused % m] += (
                    x[i_0 * 4 + i_1_j_fused // m, i_1_j_fused % m] * (i_1_j_fused % m)
                )
