import numpy as np

from astile.loops import local, shared


def chain(x, y):
    n = len(x)
    for i_0 in range((n + 3) // 8):
        a_shared = shared.empty(10, np.float32)
        for i in range(10):
            if i_0 * 8 + i < n - 2:
                a_shared[i] = x[i_0 * 8 + i] + x[i_0 * 8 + i + 2]
        for i_1 in range(8):
            a_shared_local = local.empty(3, np.float32)
            for a_shared_0 in range(3):
                if i_0 * 8 + i_1 < n - 4:
                    a_shared_local[a_shared_0] = a_shared[i_1 + a_shared_0]
            if i_0 * 8 + i_1 < n - 4:
                y[i_0 * 8 + i_1 + 2] = a_shared_local[0] * a_shared_local[1] * a_shared_local[2]
