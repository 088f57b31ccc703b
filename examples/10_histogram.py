"""A histogram without atomic operations: a row of bins for each part of the data, then their sum.

Which bin a pixel counts in is only known when the program runs. That each pixel is counted once is
proved all the same: the parts add to the same bins as the loop as it was written. As pixels are
bytes, no index has to be checked, and on the CPU the parts run on several cores
(docs/performance.md).
"""

import numpy as np

from astile import Schedule
from astile.schedule import recipes


def histogram(pixels):
    counts = np.zeros(64, np.int32)
    for i in range(pixels.shape[0]):
        counts[pixels[i] // 4] += 1
    return counts


pixels = np.random.default_rng(0).integers(0, 256, 100_003).astype(np.uint8)
expected = np.bincount(pixels // 4, minlength=64)

s = Schedule(histogram)
recipes.histogram(s, "i", "counts", parts=4)
print(s.source())
found = s.build("cpu")(pixels)
print(f"on the CPU it differs from NumPy by at most {abs(found - expected).max():.1e}")

s = Schedule(histogram)
recipes.block_histogram(s, "i", "counts", blocks=3, threads=32)
print(s.source())
found = s.build("emulate")(pixels[:997])
expected = np.bincount(pixels[:997] // 4, minlength=64)
print(f"on a GPU it differs from NumPy by at most {abs(found - expected).max():.1e}")
