from astile.loops import block, shared, thread


def transpose(A, B):
    n, m = A.shape
    for i_0 in block.y((n + 31) // 32):
        for j_0 in block.x((m + 31) // 32):
            # axis 1 is padded from 32 to 33 cells
            A_shared = shared.empty((32, 33), A.dtype)
            for A_0_turn in range(4):
                for A_0_lane in thread.y(8):
                    for A_1 in thread.x(32):
                        if i_0 * 32 + A_0_turn * 8 + A_0_lane < n and j_0 * 32 + A_1 < m:
                            A_shared[A_0_turn * 8 + A_0_lane, A_1] = A[
                                i_0 * 32 + A_0_turn * 8 + A_0_lane, j_0 * 32 + A_1
                            ]
            for j_1_turn in range(4):
                for j_1_lane in thread.y(8):
                    for i_1 in thread.x(32):
                        if i_0 * 32 + i_1 < n and j_0 * 32 + j_1_turn * 8 + j_1_lane < m:
                            B[j_0 * 32 + j_1_turn * 8 + j_1_lane, i_0 * 32 + i_1] = A_shared[
                                i_1, j_1_turn * 8 + j_1_lane
                            ]
