"""A convolution of many channels with what follows it in a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.workload import Array, Workload, blank, normal

if TYPE_CHECKING:
    from astile import Schedule
    from astile.schedule.select import Loop

_CHANNELS, _MAPS, _SIZE = 16, 32, 224


def conv32(x: Array, w: Array, residual: Array, out: Array) -> None:
    M, H, W = out.shape
    C = x.shape[0]
    for m in range(M):
        for i in range(H):
            for j in range(W):
                out[m, i, j] = residual[m, i, j]
                for c in range(C):
                    for p in range(3):
                        for q in range(3):
                            out[m, i, j] += w[m, c, p, q] * x[c, i + p, j + q]
                out[m, i, j] = max(out[m, i, j], np.float32(0))


def conv32_in_a_scalar(x: Array, w: Array, residual: Array, out: Array) -> None:
    """The same loops with the sum in a scalar, which is faster under numba."""
    M, H, W = out.shape
    C = x.shape[0]
    for m in range(M):
        for i in range(H):
            for j in range(W):
                total = residual[m, i, j]
                for c in range(C):
                    for p in range(3):
                        for q in range(3):
                            total += w[m, c, p, q] * x[c, i + p, j + q]
                out[m, i, j] = max(total, np.float32(0))


def _inputs() -> tuple[Array, ...]:
    x = blank(_CHANNELS, _SIZE + 2, _SIZE + 2)
    x[:, 1:-1, 1:-1] = normal(_CHANNELS, _SIZE, _SIZE)
    maps = (_MAPS, _SIZE, _SIZE)
    return x, normal(_MAPS, _CHANNELS, 3, 3, seed=8), normal(*maps, seed=9), blank(*maps)


def _reference(x: Array, w: Array, residual: Array, out: Array) -> Array:
    for p in range(3):
        for q in range(3):
            part = x[:, p : p + _SIZE, q : q + _SIZE]
            residual = residual + np.einsum("oc,chw->ohw", w[:, :, p, q], part)
    return np.maximum(residual, 0)


def tiled(s: Schedule, maps: int = 8, columns: int = 32) -> None:
    """Sums of a few maps at a time in registers, some columns each; rows on the cores.

    While the sums of a tile are made, the residual of the next one is asked for.
    """
    j_0, j_1 = s.split("j", [None, columns])
    s.reorder("i", "m", j_0, j_1, "c", "p", "q")
    m_0, m_1 = s.split("m", [None, maps], tail="cut")

    def named(variable: str) -> list[Loop]:
        return [each for each in s.loops() if each.var == variable]

    channels = [each for variable in ("c", "p", "q") for each in named(variable)]
    tiles, last_tiles = named("j_0")
    vectors, last_vectors = named("j_1")
    s.reorder(m_0, tiles, *channels[::2], m_1, vectors)
    s.reorder("m", last_tiles, *channels[1::2], last_vectors)
    stored = s.cache_write("out", "local", at=tiles)
    last_stored = s.cache_write("out", "local", at=last_tiles)
    s.parallel("i")
    for each in (*named("m_1"), *named("q"), stored[-2]):
        s.unroll(each)
    for each in (*named("j_1"), stored[-1], last_stored[-1]):
        s.vectorize(each)
    s.annotate(tiles, "prefetch", 1)


WORKLOADS = (
    Workload(
        "conv32",
        conv32,
        tiled,
        _inputs,
        _reference,
        plain=conv32_in_a_scalar,
        on_cores=("m",),
        flops=_SIZE**2 * _MAPS * (_CHANNELS * 18.0 + 2),
    ),
)
