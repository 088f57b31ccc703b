def f(x, y):
    n, m = x.shape
    for i_j_fused in range(n * m):
        y[i_j_fused // m, i_j_fused % m] += x[i_j_fused // m, i_j_fused % m] * (i_j_fused % m)
