import numpy as np

from astile.loops import block, shared, thread


def blur(x, out):
    H, W = x.shape
    for i_0 in block.y((H + 13) // 16):
        for j_0 in block.x((W + 13) // 16):
            wide_shared = shared.empty((18, 16), np.float32)
            for i_turn in range(2):
                for i_lane in thread.y(16):
                    if i_turn * 16 + i_lane < 18:
                        for j in thread.x(16):
                            if i_0 * 16 + i_turn * 16 + i_lane < H and j_0 * 16 + j < W - 2:
                                wide_shared[i_turn * 16 + i_lane, j] = (
                                    x[i_0 * 16 + i_turn * 16 + i_lane, j_0 * 16 + j]
                                    + x[i_0 * 16 + i_turn * 16 + i_lane, j_0 * 16 + j + 1]
                                    + x[i_0 * 16 + i_turn * 16 + i_lane, j_0 * 16 + j + 2]
                                )
            for i_1 in thread.y(16):
                if i_0 * 16 + i_1 < H - 2:
                    for j_1 in thread.x(16):
                        if j_0 * 16 + j_1 < W - 2:
                            out[i_0 * 16 + i_1, j_0 * 16 + j_1] = (
                                wide_shared[i_1, j_1]
                                + wide_shared[i_1 + 1, j_1]
                                + wide_shared[i_1 + 2, j_1]
                            )
