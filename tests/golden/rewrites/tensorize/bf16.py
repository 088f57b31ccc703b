from astile.loops import bf16, block, mma, shared, thread


def f(A, B, C):
    for b in block.x(1):
        a = shared.empty((16, 24), A.dtype)
        w = shared.empty((16, 24), B.dtype)
        for i in thread.y(8):
            for k_0 in thread.x(4):
                for i_1 in range(2):
                    for k_1 in range(4):
                        a[i_1 * 8 + i, k_1 * 4 + k_0] = A[i_1 * 8 + i, k_1 * 4 + k_0]
        for j in thread.y(8):
            for k_0 in thread.x(4):
                for u in range(2):
                    for k_1 in range(4):
                        w[k_1 * 4 + k_0, u * 8 + j] = B[k_1 * 4 + k_0, u * 8 + j]
        for r in thread.y(8):
            for p in thread.x(4):
                for u in mma.m16n8k16.bf16(2):
                    for h in range(2):
                        for q in range(2):
                            for k in range(16):
                                C[h * 8 + r, u * 8 + p * 2 + q] += bf16(a[h * 8 + r, k]) * bf16(
                                    w[k, u * 8 + p * 2 + q]
                                )
