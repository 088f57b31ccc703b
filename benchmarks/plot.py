"""A chart of records: how often astile is as fast as each peer, by workload."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

from benchmarks.measure import Record


def draw(records: Sequence[Record], path: Path) -> None:
    """Write the chart; one panel for each number of threads.

    Args:
        records: of astile and its peers.
        path: of the PNG file.
    """
    counts = sorted({each.threads for each in records})
    height = 1 + 0.45 * len({each.workload for each in records})
    figure, axes = pyplot.subplots(
        1, len(counts), figsize=(6 * len(counts), height), squeeze=False, sharey=True
    )
    for axis, count in zip(axes[0], counts, strict=True):
        _panel(axis, [each for each in records if each.threads == count])
        axis.set_title(f"threads: {count}")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _panel(axis: pyplot.Axes, records: Sequence[Record]) -> None:
    own = {each.workload: each.median_s for each in records if each.peer == "astile"}
    names = list(own)[::-1]
    for peer in dict.fromkeys(each.peer for each in records if each.peer != "astile"):
        times = {e.workload: e.median_s for e in records if e.peer == peer and e.workload in own}
        places = [names.index(each) for each in times]
        axis.scatter([times[each] / own[each] for each in times], places, label=peer, s=28)
    axis.axvline(1.0, color="black", linewidth=0.8)
    axis.set_xscale("log")
    axis.set_yticks(range(len(names)), names)
    axis.set_xlabel("time of the peer / time of astile")
    axis.grid(axis="x", which="both", alpha=0.3)
    axis.legend(loc="best", fontsize="small")
