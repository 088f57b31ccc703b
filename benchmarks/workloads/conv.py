"""A convolution of many channels with what follows it in a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.workload import Array, Workload, blank, normal

if TYPE_CHECKING:
    from astile import Schedule

_CHANNELS, _MAPS, _SIZE = 16, 32, 224


def conv32(x: Array, w: Array, residual: Array, out: Array) -> None:
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


def _maps_on_cores(s: Schedule) -> None:
    s.parallel("m")


WORKLOADS = (
    Workload(
        "conv32",
        conv32,
        _maps_on_cores,
        _inputs,
        _reference,
        on_cores=("m",),
        flops=_SIZE**2 * _MAPS * (_CHANNELS * 18.0 + 2),
    ),
)
