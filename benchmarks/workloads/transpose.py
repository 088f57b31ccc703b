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


def _squares_in_registers(s: Schedule) -> None:
    """Squares of 16 x 16 cells, which are turned in registers; four of them side by side."""
    i_0, i_1 = s.split("i", [None, 16])
    j_0, j_1, j_2 = s.split("j", [None, 4, 16])
    s.reorder(j_0, i_0, j_1, i_1, j_2)
    s.specialize("i_0 * 16 + 16 <= M and j_0 * 64 + j_1 * 16 + 16 <= N", i_1)
    s.unroll(i_1)
    s.vectorize(j_2)
    s.annotate(j_2, "store", "streaming")
    s.parallel(j_0)


WORKLOADS = (
    Workload(
        "transpose",
        transpose,
        _squares_in_registers,
        lambda: (normal(4096, 4096), blank(4096, 4096)),
        lambda x, out: x.T,
        bytes=8.0 * 4096**2,
    ),
)
