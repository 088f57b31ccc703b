import numpy as np

from astile.loops import block, shared, thread


def three(x, w, out):
    H, W = x.shape
    for i_0 in block.y((H + 9) // 16):
        for j_0 in block.x((W + 9) // 16):
            b_shared = shared.empty((18, 18), np.float32)
            a_shared = shared.empty((20, 20), np.float32)
            for i_2_turn in range(2):
                for j_2_turn in range(2):
                    for i_2_lane in thread.y(16):
                        if i_2_turn * 16 + i_2_lane < 20:
                            for j_2_lane in thread.x(16):
                                if (
                                    j_2_turn * 16 + j_2_lane < 20
                                    and i_0 * 16 + i_2_turn * 16 + i_2_lane < H - 2
                                    and j_0 * 16 + j_2_turn * 16 + j_2_lane < W - 2
                                ):
                                    s = np.float32(0.0)
                                    for p in range(3):
                                        for q in range(3):
                                            s += (
                                                x[
                                                    i_0 * 16 + i_2_turn * 16 + i_2_lane + p,
                                                    j_0 * 16 + j_2_turn * 16 + j_2_lane + q,
                                                ]
                                                * w[p, q]
                                            )
                                    a_shared[i_2_turn * 16 + i_2_lane, j_2_turn * 16 + j_2_lane] = s
            for i_turn in range(2):
                for j_turn in range(2):
                    for i_lane in thread.y(16):
                        if i_turn * 16 + i_lane < 18:
                            for j_lane in thread.x(16):
                                if (
                                    j_turn * 16 + j_lane < 18
                                    and i_0 * 16 + i_turn * 16 + i_lane < H - 4
                                    and j_0 * 16 + j_turn * 16 + j_lane < W - 4
                                ):
                                    b_shared[i_turn * 16 + i_lane, j_turn * 16 + j_lane] = (
                                        a_shared[i_turn * 16 + i_lane, j_turn * 16 + j_lane + 1]
                                        + a_shared[
                                            i_turn * 16 + i_lane + 2, j_turn * 16 + j_lane + 1
                                        ]
                                        + a_shared[i_turn * 16 + i_lane + 1, j_turn * 16 + j_lane]
                                        + a_shared[
                                            i_turn * 16 + i_lane + 1, j_turn * 16 + j_lane + 2
                                        ]
                                        - 4
                                        * a_shared[
                                            i_turn * 16 + i_lane + 1, j_turn * 16 + j_lane + 1
                                        ]
                                    )
            for i_1 in thread.y(16):
                if i_0 * 16 + i_1 < H - 6:
                    for j_1 in thread.x(16):
                        if j_0 * 16 + j_1 < W - 6:
                            out[i_0 * 16 + i_1 + 3, j_0 * 16 + j_1 + 3] = (
                                max(b_shared[i_1, j_1], b_shared[i_1 + 2, j_1 + 2])
                                + a_shared[i_1 + 2, j_1 + 2]
                            )
