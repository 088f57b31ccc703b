"""The transpose of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.workload import Array, Workload, blank, normal

if TYPE_CHECKING:
    from astile import Schedule


def transpose(x: Array, out: Array) -> None:
    N, M = x.shape
    for i in range(M):
        for j in range(N):
            out[i, j] = x[j, i]


def _tiles_on_cores(s: Schedule) -> None:
    i_0, _, _, _ = s.tile(["i", "j"], [32, 32])
    s.parallel(i_0)


WORKLOADS = (
    Workload(
        "transpose",
        transpose,
        _tiles_on_cores,
        lambda: (normal(4096, 4096), blank(4096, 4096)),
        lambda x, out: x.T,
        bytes=8.0 * 4096**2,
    ),
)
