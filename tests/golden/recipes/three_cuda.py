import numpy as np
from numba import cuda
from numpy import float32, uint32, uint64


@cuda.jit
def three_kernel(x, w, out, H, W):
    b_shared = cuda.shared.array((18, 18), np.float32)
    a_shared = cuda.shared.array((20, 20), np.float32)
    i_0 = uint32(cuda.blockIdx.y)
    j_0 = uint32(cuda.blockIdx.x)
    i_2_lane = uint32(cuda.threadIdx.y)
    j_2_lane = uint32(cuda.threadIdx.x)
    i_lane = uint32(cuda.threadIdx.y)
    j_lane = uint32(cuda.threadIdx.x)
    i_1 = uint32(cuda.threadIdx.y)
    j_1 = uint32(cuda.threadIdx.x)
    for i_2_turn in range(uint32(2)):
        for j_2_turn in range(uint32(2)):
            if (
                i_2_turn * uint32(16) + i_2_lane < uint32(20)
                and j_2_turn * uint32(16) + j_2_lane < uint32(20)
                and i_0 * uint32(16) + i_2_turn * uint32(16) + i_2_lane + uint32(2) < uint64(H)
                and j_0 * uint32(16) + j_2_turn * uint32(16) + j_2_lane + uint32(2) < uint64(W)
            ):
                s = np.float32(0.0)
                for p in range(uint32(3)):
                    for q in range(uint32(3)):
                        s += (
                            x[
                                i_0 * uint32(16) + i_2_turn * uint32(16) + i_2_lane + p,
                                j_0 * uint32(16) + j_2_turn * uint32(16) + j_2_lane + q,
                            ]
                            * w[p, q]
                        )
                a_shared[i_2_turn * uint32(16) + i_2_lane, j_2_turn * uint32(16) + j_2_lane] = s

    # a_shared, written by thread (i_2_lane, j_2_lane) above, is read by other threads below
    cuda.syncthreads()
    for i_turn in range(uint32(2)):
        for j_turn in range(uint32(2)):
            if (
                i_turn * uint32(16) + i_lane < uint32(18)
                and j_turn * uint32(16) + j_lane < uint32(18)
                and i_0 * uint32(16) + i_turn * uint32(16) + i_lane + uint32(4) < uint64(H)
                and j_0 * uint32(16) + j_turn * uint32(16) + j_lane + uint32(4) < uint64(W)
            ):
                b_shared[i_turn * uint32(16) + i_lane, j_turn * uint32(16) + j_lane] = (
                    a_shared[i_turn * uint32(16) + i_lane, j_turn * uint32(16) + j_lane + uint32(1)]
                    + a_shared[
                        i_turn * uint32(16) + i_lane + uint32(2),
                        j_turn * uint32(16) + j_lane + uint32(1),
                    ]
                    + a_shared[
                        i_turn * uint32(16) + i_lane + uint32(1), j_turn * uint32(16) + j_lane
                    ]
                    + a_shared[
                        i_turn * uint32(16) + i_lane + uint32(1),
                        j_turn * uint32(16) + j_lane + uint32(2),
                    ]
                    - float32(4)
                    * a_shared[
                        i_turn * uint32(16) + i_lane + uint32(1),
                        j_turn * uint32(16) + j_lane + uint32(1),
                    ]
                )

    # b_shared, written by thread (i_lane, j_lane) above, is read by other threads below
    cuda.syncthreads()
    if (
        i_0 * uint32(16) + i_1 + uint32(6) < uint64(H)
        and j_0 * uint32(16) + j_1 + uint32(6) < uint64(W)
    ):
        out[i_0 * uint32(16) + i_1 + uint32(3), j_0 * uint32(16) + j_1 + uint32(3)] = (
            b_shared[i_1 + uint32(2), j_1 + uint32(2)]
            if b_shared[i_1 + uint32(2), j_1 + uint32(2)] > b_shared[i_1, j_1]
            else b_shared[i_1, j_1]
        ) + a_shared[i_1 + uint32(2), j_1 + uint32(2)]


def three(x, w, out):
    H, W = x.shape
    grid = (W + 9) // 16, (H + 9) // 16
    if min(grid) > 0:
        three_kernel[grid, (16, 16)](x, w, out, H, W)
