import numpy as np

from astile.loops import block, shared, thread


def histogram(x, out):
    counts = np.zeros(32, np.int32)
    counts_rf = np.empty((128, 32), np.int32)
    for i_block in block.x(128):
        for counts_0 in thread.x(32):
            counts_rf[i_block, counts_0] = 0
        counts_rf_rf_shared = shared.empty((32, 64), np.int32)
        for i_lane in thread.x(64):
            for counts_rf_1 in range(32):
                counts_rf_rf_shared[counts_rf_1, i_lane] = 0
        for i_lane in thread.x(64):
            for i_turn in range((len(x) + 8191) // 8192):
                if i_turn * 8192 + i_block * 64 + i_lane < len(x):
                    counts_rf_rf_shared[x[i_turn * 8192 + i_block * 64 + i_lane] // 8, i_lane] += 1
        for counts_rf_1 in thread.x(32):
            for i_lane in range(64):
                counts_rf[i_block, counts_rf_1] += counts_rf_rf_shared[counts_rf_1, i_lane]

    for counts_block in block.x(1):
        for counts_lane in thread.x(64):
            if counts_block * 64 + counts_lane < 32:
                for i_block in range(128):
                    counts[counts_block * 64 + counts_lane] += counts_rf[
                        i_block, counts_block * 64 + counts_lane
                    ]

    for c in range(32):
        out[c] = counts[c]
