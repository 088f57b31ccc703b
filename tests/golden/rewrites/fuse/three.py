def f(y):
    for i_j_k_fused in range(len(y) * 15):
        y[i_j_k_fused // 15, i_j_k_fused // 5 % 3, i_j_k_fused % 5] = (
            i_j_k_fused // 15 + i_j_k_fused // 5 % 3 * (i_j_k_fused % 5)
        )
