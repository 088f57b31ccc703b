"""A photograph plus its edges: two loop nests, tiled and interleaved to fit a GPU's shared memory.
The photograph is grace_hopper.jpg, which ships in matplotlib's wheel."""

import re
from pathlib import Path

import numpy as np
from matplotlib import cbook, image

from astile import Schedule


def conv_add(x, w, bias, out):
    H, W = out.shape
    conv = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W):
            acc = np.float32(0)
            for a in range(3):
                for b in range(3):
                    acc += x[i + a, j + b] * w[a, b]
            conv[i, j] = acc
    for i in range(H):
        for j in range(W):
            out[i, j] = conv[i, j] + bias[i, j]


def size_of_conv(program: str, rows: int, columns: int) -> str:
    memory, *shape = re.search(r"(\w+)\.empty\(\((\w+), (\w+)\), np.float32", program).groups()
    rows, columns = (int({"H": rows, "W": columns}.get(each, each)) for each in shape)
    size = f"{rows} x {columns} float32 = {rows * columns * 4 / 1024:g} KiB"
    return f"{size} in {memory.replace('np', 'slow')} memory"


s = Schedule(conv_add)
print(f"# The function:\n\n{s.source()}")
i_0, j_0, i_1, j_1 = s.tile(["out.i", "out.j"], [16, 16])  # the loops over tiles outermost
i, j, *_ = s.compute_at("conv", j_0)  # the convolution of each tile right before its add
s.set_scope("conv", "shared")
for rows, columns, unit in [(i_0, j_0, "block"), (i, j, "thread"), (i_1, j_1, "thread")]:
    s.bind(rows, f"{unit}Idx.y")
    s.bind(columns, f"{unit}Idx.x")
for step in s.steps:
    print(f"\n# After s.{step.call}:\n\n{step.source}")
print(f"\n# The same as CUDA kernel:\n\n{s.source('cuda')}")

photo = image.imread(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False))[120:346, 150:376]
x = (photo.mean(axis=2) / 255).astype(np.float32)
w = np.array([[0, -1, 0], [-1, 4, -1], [0, -1, 0]], np.float32)
bias, out, small = x[1:-1, 1:-1].copy(), np.zeros((224, 224), "f4"), np.zeros((40, 40), "f4")
s.build("cpu")(x, w, bias, out)
s.build("emulate")(x[:42, :42].copy(), w, bias[:40, :40].copy(), small)  # CUDA without a GPU
expected = sum(w[a, b] * x[a : a + 224, b : b + 224] for a in range(3) for b in range(3)) + bias
print("\n# conv, for the whole photograph and then for each tile, from grace_hopper.jpg:")
print(size_of_conv(s.steps[0].source, *out.shape), "->", size_of_conv(s.source(), *out.shape))
print(f"on the CPU it differs from NumPy by at most {abs(out - expected).max():.1e}")
print(f"emulated CUDA, 40 x 40: by at most {abs(small - expected[:40, :40]).max():.1e}")
image.imsave(Path(__file__).with_suffix(".png"), np.hstack([bias, out]).clip(0, 1), cmap="gray")
