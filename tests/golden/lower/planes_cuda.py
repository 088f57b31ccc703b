import numpy as np_1
from numba import cuda
from numpy import uint32, uint64

from astile.intrinsics.async_copies import (
    close_group, start_copy1, start_copy4, wait_all, wait_all_but_1
)
from astile.intrinsics.cuda import is_aligned


@cuda.jit
def f_kernel(x, y):
    x_shared = cuda.shared.array((3, 1, 1, 32), np_1.float32, alignment=16)
    b = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    i_0 = uint32(cuda.threadIdx.x)
    for k in range(min(len(x), 2)):
        start_copy4(
            x_shared, (uint64(k) % uint32(3), 0, 0, t * uint32(4)), x, (uint64(k), b, t * uint32(4))
        )
        close_group()

    for k in range(len(x) - 2):
        wait_all_but_1()
        # x_shared, written by thread (t) above, is read by other threads below
        cuda.syncthreads()
        start_copy4(
            x_shared,
            ((uint64(k) + uint32(2)) % uint32(3), 0, 0, t * uint32(4)),
            x,
            (uint64(k) + uint32(2), b, t * uint32(4)),
        )
        close_group()
        for i_1 in range(uint32(4)):
            y[b, i_0 * uint32(4) + i_1] += (
                x_shared[uint64(k) % uint32(3), 0, 0, i_0 * uint32(4) + i_1]
                * x_shared[uint64(k) % uint32(3), 0, 0, uint32(31) - i_0 * uint32(4) - i_1]
            )

    wait_all()
    # x_shared, written by thread (t) above, is read by other threads below
    cuda.syncthreads()
    for k in range(max(len(x) - 2, 0), len(x)):
        for i_1 in range(uint32(4)):
            y[b, i_0 * uint32(4) + i_1] += (
                x_shared[uint64(k) % uint32(3), 0, 0, i_0 * uint32(4) + i_1]
                * x_shared[uint64(k) % uint32(3), 0, 0, uint32(31) - i_0 * uint32(4) - i_1]
            )


@cuda.jit
def f_scalar_kernel(x, y):
    x_shared = cuda.shared.array((3, 1, 1, 32), np_1.float32)
    b = uint32(cuda.blockIdx.x)
    t = uint32(cuda.threadIdx.x)
    i_0 = uint32(cuda.threadIdx.x)
    for k in range(min(len(x), 2)):
        for v in range(uint32(4)):
            start_copy1(
                x_shared,
                (uint64(k) % uint32(3), 0, 0, t * uint32(4) + v),
                x,
                (uint64(k), b, t * uint32(4) + v),
            )
        close_group()

    for k in range(len(x) - 2):
        wait_all_but_1()
        # x_shared, written by thread (t) above, is read by other threads below
        cuda.syncthreads()
        for v in range(uint32(4)):
            start_copy1(
                x_shared,
                ((uint64(k) + uint32(2)) % uint32(3), 0, 0, t * uint32(4) + v),
                x,
                (uint64(k) + uint32(2), b, t * uint32(4) + v),
            )
        close_group()
        for i_1 in range(uint32(4)):
            y[b, i_0 * uint32(4) + i_1] += (
                x_shared[uint64(k) % uint32(3), 0, 0, i_0 * uint32(4) + i_1]
                * x_shared[uint64(k) % uint32(3), 0, 0, uint32(31) - i_0 * uint32(4) - i_1]
            )

    wait_all()
    # x_shared, written by thread (t) above, is read by other threads below
    cuda.syncthreads()
    for k in range(max(len(x) - 2, 0), len(x)):
        for i_1 in range(uint32(4)):
            y[b, i_0 * uint32(4) + i_1] += (
                x_shared[uint64(k) % uint32(3), 0, 0, i_0 * uint32(4) + i_1]
                * x_shared[uint64(k) % uint32(3), 0, 0, uint32(31) - i_0 * uint32(4) - i_1]
            )


def f(x, y):
    if is_aligned(16, x):
        f_kernel[2, 8](x, y)
    else:
        f_scalar_kernel[2, 8](x, y)
