"""Stencils: a small convolution, chains of stencils over images, and sweeps over a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.workload import Array, Workload, blank, normal

if TYPE_CHECKING:
    from astile import Schedule
from astile.schedule.recipes import time_fronts

_STEPS = 100


def conv1(x: Array, w: Array, residual: Array, out: Array) -> None:
    H, W = out.shape
    for i in range(H):
        for j in range(W):
            total = residual[i, j]
            for p in range(3):
                for q in range(3):
                    total += w[p, q] * x[i + p, j + q]
            out[i, j] = max(total, np.float32(0))


def _conv1_inputs() -> tuple[Array, ...]:
    x = blank(226, 226)
    x[1:-1, 1:-1] = normal(224, 224)
    return x, normal(3, 3, seed=8), normal(224, 224, seed=9), blank(224, 224)


def _conv1_reference(x: Array, w: Array, residual: Array, out: Array) -> Array:
    for p in range(3):
        for q in range(3):
            residual = residual + w[p, q] * x[p : p + 224, q : q + 224]
    return np.maximum(residual, 0)


def blur(x: Array, out: Array) -> None:
    H, W = out.shape
    third = np.float32(1 / 3)
    across = np.empty((H + 2, W), np.float32)
    for i in range(H + 2):
        for j in range(W):
            across[i, j] = (x[i, j] + x[i, j + 1] + x[i, j + 2]) * third
    for i in range(H):
        for j in range(W):
            out[i, j] = (across[i, j] + across[i + 1, j] + across[i + 2, j]) * third


def _blur_reference(x: Array, out: Array) -> Array:
    across = (x[:, :-2] + x[:, 1:-1] + x[:, 2:]) / 3
    return (across[:-2] + across[1:-1] + across[2:]) / 3


def harris(x: Array, out: Array) -> None:
    H, W = out.shape
    twelfth, two = np.float32(1 / 12), np.float32(2)
    dx = np.empty((H + 2, W + 2), np.float32)
    dy = np.empty((H + 2, W + 2), np.float32)
    for i in range(H + 2):
        for j in range(W + 2):
            dx[i, j] = twelfth * (
                (x[i, j + 2] - x[i, j])
                + two * (x[i + 1, j + 2] - x[i + 1, j])
                + (x[i + 2, j + 2] - x[i + 2, j])
            )
    for i in range(H + 2):
        for j in range(W + 2):
            dy[i, j] = twelfth * (
                (x[i + 2, j] - x[i, j])
                + two * (x[i + 2, j + 1] - x[i, j + 1])
                + (x[i + 2, j + 2] - x[i, j + 2])
            )
    for i in range(H):
        for j in range(W):
            a = np.float32(0)
            b = np.float32(0)
            c = np.float32(0)
            for p in range(3):
                for q in range(3):
                    a += dx[i + p, j + q] * dx[i + p, j + q]
                    b += dy[i + p, j + q] * dy[i + p, j + q]
                    c += dx[i + p, j + q] * dy[i + p, j + q]
            out[i, j] = a * b - c * c - np.float32(0.04) * (a + b) * (a + b)


def _harris_reference(x: Array, out: Array) -> Array:
    def across(x: Array) -> Array:
        d = x[:, 2:] - x[:, :-2]
        return (d[:-2] + 2 * d[1:-1] + d[2:]) / 12

    def box(p: Array) -> Array:
        rows = p[:-2] + p[1:-1] + p[2:]
        return rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]

    dx, dy = across(x), across(x.T).T
    a, b, c = box(dx * dx), box(dy * dy), box(dx * dy)
    return a * b - c * c - 0.04 * (a + b) ** 2


def jacobi(steps: int, a: Array, b: Array) -> None:
    H, W = a.shape
    fifth = np.float32(0.2)
    for t in range(steps):
        for i in range(1, H - 1):
            for j in range(1, W - 1):
                b[i, j] = fifth * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j])
        for i in range(1, H - 1):
            for j in range(1, W - 1):
                a[i, j] = fifth * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i - 1, j] + b[i + 1, j])


def _jacobi_inputs() -> tuple[int, Array, Array]:
    return _STEPS // 2, normal(2048, 2048), normal(2048, 2048)


def _jacobi_reference(steps: int, a: Array, b: Array) -> Array:
    for _ in range(2 * steps):
        b = a.copy()
        b[1:-1, 1:-1] = (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1]
        ) / 5
        a = b
    return a


def _rows_at_once(s: Schedule) -> None:
    """Eight rows at a time, which share what they read of x, and the last rows one by one."""
    rows = s.split("i", [None, 8], tail="cut")[-1]
    s.reorder("j#0", rows)
    for each in (rows, "p#0", "q#0", "p#1", "q#1"):
        s.unroll(each)
    for each in ("j#0", "j#1"):
        s.vectorize(each)
    s.parallel("i_0")


def _rows_in_registers(s: Schedule) -> None:
    """Four rows at a time, for which six rows of `across` are made in registers.

    The rows of x for the next but one four are on their way to the second cache meanwhile. More
    rows are too many for the places of a cache that rows so far apart share, and for the buffers in
    which parts of lines that are stored around it come together.
    """
    i_0, i_1 = s.split("out.i", [None, 4])
    j_0, j_1 = s.split("out.j", [None, 16])
    s.reorder(i_0, j_0, i_1, j_1)
    s.compute_at("across", j_0)
    s.set_scope("across", "local")
    i, j = s.loops("across_local")[-2:]
    for rows, columns in ((i, j), (i_1, j_1)):
        s.unroll(rows)
        s.vectorize(columns)
    s.annotate(j_1, "store", "streaming")
    s.annotate(i_0, "prefetch", 2)
    s.parallel(i_0)
    s.specialize("i_0 * 4 + 4 <= H and W % 16 == 0", j_0)


def _gradients_in_turns(s: Schedule) -> None:
    """Four rows at a time; each core keeps the last six rows of both gradients.

    So many columns at a time that these rows stay in the first cache.
    """
    i_0, i_1, i_2 = s.split("out.i", [None, 16, 4], names=["i_0", "i_1", "i_2"])
    j_0, j = s.split("out.j", [None, 512])
    s.reorder(i_0, j_0, i_1, j, i_2)
    for each in ("dy", "dx"):
        s.compute_at(each, i_1)
        s.store_at(each, j_0)
        s.rolling_buffer(each, i_1)
    pairs = zip(s.loops("dy#1")[-2:], s.loops("dx#1")[-2:], strict=True)
    rows, columns = (s.merge(*pair)[0] for pair in pairs)
    s.reorder(columns, rows)
    for loop in (columns, j):
        s.specialize("i_0 * 64 + i_1 * 4 + 4 <= H", loop)
    for loop in (columns, j):
        s.vectorize(loop)
    for loop in (rows, i_2, "p#0", "q#0"):
        s.unroll(loop)
    s.annotate(i_1, "prefetch", 1)
    s.parallel(i_0)


def _fronts(s: Schedule) -> None:
    """Ten steps in 64 rows at a time; tiles that are not ahead of each other run on cores.

    The first 15 columns stand apart, so that vectors of the others begin where a vector of memory
    does: column 16 instead of column 1.
    """
    time_fronts(s, "t", (10, 64))
    for each in s.loops():
        if each.var == "j":
            s.vectorize(s.peel(each, first=15)[0])
            s.vectorize(each)
            s.annotate(each, "store", "late")


WORKLOADS = (
    Workload(
        "conv1",
        conv1,
        _rows_at_once,
        _conv1_inputs,
        _conv1_reference,
        flops=224.0**2 * 20,
    ),
    Workload(
        "blur",
        blur,
        _rows_in_registers,
        lambda: (normal(4098, 4098), blank(4096, 4096)),
        _blur_reference,
        bytes=8.0 * 4096**2,
    ),
    Workload(
        "harris",
        harris,
        _gradients_in_turns,
        lambda: (normal(2052, 2052), blank(2048, 2048)),
        _harris_reference,
        bytes=8.0 * 2048**2,
    ),
    Workload(
        "jacobi",
        jacobi,
        _fronts,
        _jacobi_inputs,
        _jacobi_reference,
        bytes=_STEPS * 8.0 * 2048**2,
        result=1,
    ),
)
