def f(y):
    for i_0_i_1_fused in range((len(y) + 15) // 16 * 16):
        if i_0_i_1_fused < len(y):
            y[i_0_i_1_fused] = i_0_i_1_fused
