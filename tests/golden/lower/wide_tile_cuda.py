import numpy as np
from numba import cuda
from numpy import uint32

from astile.intrinsics.cuda import is_aligned, load4, store4


@cuda.jit
def f_kernel(x, y):
    t = cuda.shared.array((4, 16), np.float32, alignment=16)
    rank = uint32(cuda.threadIdx.x)
    b = uint32(cuda.blockIdx.x)
    i = uint32(cuda.threadIdx.x)
    # the threads of the block share these iterations
    r = rank // uint32(4)
    c_group = rank % uint32(4)
    store4(t, (r, c_group * uint32(4)), load4(x, (b, r * uint32(16) + c_group * uint32(4))))
    # t, written by all threads above, is read by other threads below
    cuda.syncthreads()
    y[b, i] = t[0, i] + t[3, uint32(15) - i]


@cuda.jit
def f_scalar_kernel(x, y):
    t = cuda.shared.array((4, 16), np.float32)
    rank = uint32(cuda.threadIdx.x)
    b = uint32(cuda.blockIdx.x)
    i = uint32(cuda.threadIdx.x)
    # the threads of the block share these iterations
    for turn in range(uint32(4)):
        cell = uint32(turn * uint32(16) + rank)
        r = cell // uint32(16)
        c = cell % uint32(16)
        t[r, c] = x[b, r * uint32(16) + c]

    # t, written by all threads above, is read by other threads below
    cuda.syncthreads()
    y[b, i] = t[0, i] + t[3, uint32(15) - i]


def f(x, y):
    n, m = x.shape
    if n > 0:
        if is_aligned(16, x):
            f_kernel[n, 16](x, y)
        else:
            f_scalar_kernel[n, 16](x, y)
