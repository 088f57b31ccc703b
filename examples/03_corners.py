"""Corners of a photograph by Harris and Stephens: five stages, and only the last one leaves a tile.
The photograph is grace_hopper.jpg, which ships in matplotlib's wheel."""

from pathlib import Path

import numpy as np
from matplotlib import cbook, image

from astile import Schedule


def corners(x, out):
    H, W = out.shape
    dx = np.empty((H + 2, W + 2), np.float32)
    dy = np.empty((H + 2, W + 2), np.float32)
    for i in range(H + 2):
        for j in range(W + 2):
            dx[i, j] = x[i + 1, j + 2] - x[i + 1, j]
            dy[i, j] = x[i + 2, j + 1] - x[i, j + 1]
    for i in range(H):
        for j in range(W):
            xx, xy, yy = np.float32(0), np.float32(0), np.float32(0)
            for a in range(3):
                for b in range(3):
                    xx += dx[i + a, j + b] * dx[i + a, j + b]
                    xy += dx[i + a, j + b] * dy[i + a, j + b]
                    yy += dy[i + a, j + b] * dy[i + a, j + b]
            out[i, j] = xx * yy - xy * xy - np.float32(0.04) * (xx + yy) * (xx + yy)


s = Schedule(corners)
i_0, j_0, *_ = s.tile(["out.i", "out.j"], [32, 64])
s.compute_at(s.loops("dx")[0], j_0)  # both derivatives: they stand in one nest
s.set_scope("dx", "local")
s.set_scope("dy", "local")
s.parallel(i_0)
print(s.source())

photo = image.imread(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False))
x = (photo.mean(axis=2) / 255).astype(np.float32)
out = np.zeros((x.shape[0] - 4, x.shape[1] - 4), np.float32)
expected = np.zeros_like(out)
s.build("cpu")(x, out)
Schedule(corners).build("cpu")(x, expected)
print(f"differs from the loops as written by at most {abs(out - expected).max():.1e}")
shown = np.hstack([x[2:-2, 2:-2], (out > 0.05).astype(np.float32)])
image.imsave(Path(__file__).with_suffix(".png"), shown, cmap="gray")
