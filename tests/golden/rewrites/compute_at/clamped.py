import numpy as np


def blur(x, out):
    h, w = x.shape
    by = np.empty((h, w))
    for y_0 in range((h + 7) // 8):
        for c_0 in range((w + 15) // 16):
            for y in range(8):
                for c in range(20):
                    if y_0 * 8 + y < h and 0 <= c_0 * 16 + c - 2 < w:
                        by[y_0 * 8 + y, c_0 * 16 + c - 2] = (
                            x[max(y_0 * 8 + y - 1, 0), c_0 * 16 + c - 2]
                            + x[y_0 * 8 + y, c_0 * 16 + c - 2]
                            + x[min(y_0 * 8 + y + 1, h - 1), c_0 * 16 + c - 2]
                        )
            for y_1 in range(8):
                if y_0 * 8 + y_1 < h:
                    for c_1 in range(16):
                        if c_0 * 16 + c_1 < w:
                            out[y_0 * 8 + y_1, c_0 * 16 + c_1] = (
                                by[y_0 * 8 + y_1, max(c_0 * 16 + c_1 - 2, 0)]
                                + by[y_0 * 8 + y_1, c_0 * 16 + c_1]
                                + by[y_0 * 8 + y_1, min(c_0 * 16 + c_1 + 2, w - 1)]
                            )
