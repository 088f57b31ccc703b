import math
from math import exp as e

import numpy as np
from numpy import float32

from astile.loops import block, shared, thread

K = np.float32(0.1)
SIGMA = 1.5


def weight(x):
    return e(-x / SIGMA)


def clipped(x):
    return min(max(weight(x), 0.0), 1.0)


def kernel(A, out):
    n = len(A)
    for i_0 in block.x((n + 15) // 16):
        tile = shared.empty((16,), float32)
        for i_1 in thread.x(16):
            if i_0 * 16 + i_1 < n:
                tile[i_1] = A[i_0 * 16 + i_1] * K
        for i_1 in thread.x(16):
            if i_0 * 16 + i_1 < n:
                out[i_0 * 16 + i_1] = clipped(tile[i_1]) + math.pi
