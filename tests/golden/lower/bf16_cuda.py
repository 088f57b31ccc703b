import numpy as np_1
from numba import cuda
from numpy import uint32

from astile.intrinsics.matrix_units import bf16_parts, load_rows4, multiply_add_bf16


@cuda.jit
def f_kernel(A, B, C):
    a = cuda.shared.array((16, 24), np_1.float32, alignment=16)
    w = cuda.shared.array((16, 24), np_1.float32, alignment=16)
    a_part = cuda.local.array((4,), np_1.uint32)
    w_part = cuda.local.array((2, 2), np_1.uint32)
    lane = uint32(cuda.laneid)
    i = uint32(cuda.threadIdx.y)
    k_0 = uint32(cuda.threadIdx.x)
    j = uint32(cuda.threadIdx.y)
    r = uint32(cuda.threadIdx.y)
    p = uint32(cuda.threadIdx.x)
    for i_1 in range(uint32(2)):
        for k_1 in range(uint32(4)):
            a[i_1 * uint32(8) + i, k_1 * uint32(4) + k_0] = A[
                i_1 * uint32(8) + i, k_1 * uint32(4) + k_0
            ]

    for u in range(uint32(2)):
        for k_1 in range(uint32(4)):
            w[u * uint32(8) + j, k_1 * uint32(4) + k_0] = B[
                k_1 * uint32(4) + k_0, u * uint32(8) + j
            ]

    # a, written by thread (i, k_0) above, is read by other threads below
    cuda.syncthreads()
    # the threads of a warp multiply matrices together
    a_loaded = bf16_parts(
        load_rows4(
            a,
            (
                lane // uint32(16) * uint32(8) + lane % uint32(8),
                lane // uint32(8) % uint32(2) * uint32(4),
            ),
        )
    )
    a_part[0] = a_loaded[0]
    a_part[1] = a_loaded[1]
    a_loaded = bf16_parts(
        load_rows4(
            a,
            (
                lane // uint32(16) * uint32(8) + lane % uint32(8),
                lane // uint32(8) % uint32(2) * uint32(4) + uint32(8),
            ),
        )
    )
    a_part[2] = a_loaded[0]
    a_part[3] = a_loaded[1]
    for u in range(uint32(2)):
        w_loaded = bf16_parts(
            load_rows4(
                w,
                (
                    u * uint32(8) + lane % uint32(8) // uint32(2) * uint32(2) + lane % uint32(2),
                    lane // uint32(8) * uint32(4),
                ),
            )
        )
        w_part[u, 0] = w_loaded[0]
        w_part[u, 1] = w_loaded[1]

    for u in range(uint32(2)):
        C_sums = multiply_add_bf16(
            (a_part[0], a_part[1], a_part[2], a_part[3]),
            (w_part[u, 0], w_part[u, 1]),
            (
                C[r, u * uint32(8) + p * uint32(2)],
                C[r, u * uint32(8) + p * uint32(2) + uint32(1)],
                C[r + uint32(8), u * uint32(8) + p * uint32(2)],
                C[r + uint32(8), u * uint32(8) + p * uint32(2) + uint32(1)],
            ),
        )
        C[r, u * uint32(8) + p * uint32(2)] = C_sums[0]
        C[r, u * uint32(8) + p * uint32(2) + uint32(1)] = C_sums[1]
        C[r + uint32(8), u * uint32(8) + p * uint32(2)] = C_sums[2]
        C[r + uint32(8), u * uint32(8) + p * uint32(2) + uint32(1)] = C_sums[3]


def f(A, B, C):
    f_kernel[1, (4, 8)](A, B, C)
