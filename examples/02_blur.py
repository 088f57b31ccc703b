"""A blur in two passes: the rows that one tile needs, halo included, are computed right before it.
The photograph is grace_hopper.jpg, which ships in matplotlib's wheel."""

from pathlib import Path

import numpy as np
from matplotlib import cbook, image

from astile import Schedule


def blur(x, out):
    H, W = out.shape
    rows = np.empty((H + 2, W), np.float32)
    for i in range(H + 2):
        for j in range(W):
            rows[i, j] = (x[i, j] + x[i, j + 1] + x[i, j + 2]) / 3
    for i in range(H):
        for j in range(W):
            out[i, j] = (rows[i, j] + rows[i + 1, j] + rows[i + 2, j]) / 3


s = Schedule(blur)
i_0, j_0, *_ = s.tile(["out.i", "out.j"], [32, 64])
s.compute_at("rows", j_0)  # 34 x 64 values for a tile of 32 x 64
s.set_scope("rows", "local")
s.parallel(i_0)
print(s.source())

photo = image.imread(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False))
x = (photo.mean(axis=2) / 255).astype(np.float32)
out = np.zeros((x.shape[0] - 2, x.shape[1] - 2), np.float32)
blurred = s.build("cpu")
blurred(x, out)
print(blurred.explain(x, out))
rows = (x[:, :-2] + x[:, 1:-1] + x[:, 2:]) / 3
expected = (rows[:-2] + rows[1:-1] + rows[2:]) / 3
print(f"differs from NumPy by at most {abs(out - expected).max():.1e}")
both = np.hstack([x[1:-1, 1:-1], out])
image.imsave(Path(__file__).with_suffix(".png"), both.clip(0, 1), cmap="gray")
