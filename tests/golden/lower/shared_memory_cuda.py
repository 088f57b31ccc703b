import numpy as np
from numba import cuda
from numpy import int64, uint32, uint64

from astile.intrinsics.shared_memory import shared_array, with_shared_memory


@with_shared_memory(51216)
@cuda.jit
def turned_kernel(x, w, y):
    tile = shared_array((100, 64), np.float64, 0)
    scale = shared_array((3,), np.float32, 51200)
    b = int64(cuda.blockIdx.x)
    i = uint32(cuda.threadIdx.x)
    for k in range(uint32(100)):
        tile[k, i] = x[uint64(b), k, i]

    if i < uint32(3):
        scale[i] = w[i]
    # tile and scale, written by thread (i) above, are read by other threads below
    cuda.syncthreads()
    for k in range(uint32(100)):
        y[uint64(b), k, i] = tile[k, uint32(63) - i] * scale[i % uint32(3)]


def turned(x, w, y):
    grid = len(x)
    if grid > 0:
        turned_kernel[grid, 64, 0, 51216](x, w, y)
