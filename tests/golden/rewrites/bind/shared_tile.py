import numpy as np

from astile.loops import block, local, shared, thread


def weighted(a, w, y):
    for i_block in block.x(1):
        s_tile = local.empty(len(y), np.result_type(0.0, a, w))
        for i in thread.x(len(y)):
            s_tile[i] = 0.0
        for k_0 in range((len(a) + 3) // 4):
            a_shared = shared.empty(4, a.dtype)
            for a_0 in range(4):
                if k_0 * 4 + a_0 < len(a):
                    a_shared[a_0] = a[k_0 * 4 + a_0]
            for i in thread.x(len(y)):
                for k_1 in range(4):
                    if k_0 * 4 + k_1 < len(a):
                        s_tile[i] += a_shared[k_1] * w[i, k_0 * 4 + k_1]
        for i in thread.x(len(y)):
            y[i] = s_tile[i]
