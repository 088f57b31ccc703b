"""Draws conv_add.png: the order in which cells are computed, and how much has to be kept meanwhile.

All of it is measured in two runs of the function of examples/01_conv_add.py in plain Python, one as
it is written and one in tiles.
"""

from pathlib import Path

import matplotlib
import numpy as np

from astile import tile
from astile.page.watch import Watch, live, watch

matplotlib.use("agg")
from matplotlib import pyplot

SIZE, TILE = 48, 16
BLUE, ORANGE, GREY = "#2f7fd6", "#e0662b", "#5b6168"


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


def order(run: Watch) -> np.ndarray:
    """When each cell of `out` was written, as a share of the run."""
    number = list(run.arrays).index("out")
    times = np.zeros(run.arrays["out"])
    for time, event in enumerate(run.events):
        for array, cell, is_write in event:
            if array == number and is_write:
                times.flat[cell] = time / len(run.events)
    return times


def kept(run: Watch) -> np.ndarray:
    """KiB of the intermediate that are still needed, after each statement."""
    return np.array(live(run, lambda name: name.startswith("conv"))) * 4 / 1024


kernel = tile(i=TILE, j=TILE, target="python")(conv_add)
g = np.random.default_rng(0)
shapes = {"x": (SIZE + 2, SIZE + 2), "w": (3, 3), "bias": (SIZE, SIZE), "out": (SIZE, SIZE)}
arguments = {name: g.random(shape, np.float32) for name, shape in shapes.items()}
runs = [
    watch(program, arguments, most=10**6)
    for program in (kernel.schedule.original, kernel.schedule.program)
]
figure, axes = pyplot.subplots(1, 4, figsize=(11, 2.9), width_ratios=(1, 1.7, 1, 1.7))
shown = (
    (axes[:2], runs[0], "as written: two passes", BLUE),
    (axes[2:], runs[1], f"in tiles of {TILE} x {TILE}: one pass", ORANGE),
)
for pair, run, title, colour in shown:
    pair[0].imshow(order(run), cmap="viridis", vmin=0, vmax=1)
    pair[0].set_title("out: early to late", fontsize=9, color=GREY)
    pair[0].set_xticks([])
    pair[0].set_yticks([])
    curve = kept(run)
    pair[1].fill_between(np.linspace(0, 1, len(curve)), curve, color=colour, alpha=0.25, lw=0)
    pair[1].plot(np.linspace(0, 1, len(curve)), curve, color=colour, lw=1.4)
    pair[1].set_ylim(0, 1.1 * SIZE**2 * 4 / 1024)
    pair[1].set_xticks([])
    pair[1].set_xlabel("the run", fontsize=9, color=GREY)
    pair[1].set_title(f"{title}\n{curve.max():g} KiB of conv at most", fontsize=10)
    pair[1].tick_params(labelsize=8, colors=GREY)
    pair[1].spines[["top", "right"]].set_visible(False)
    pair[1].set_ylabel("KiB still needed", fontsize=8, color=GREY)
figure.tight_layout()
figure.savefig(Path(__file__).with_suffix(".png"), dpi=140, metadata={"Software": None})
