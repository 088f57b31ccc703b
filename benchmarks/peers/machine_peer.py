"""No library: how fast this machine multiplies and adds, and copies, measured like a peer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np

from astile.intrinsics.host import vector_bytes
from astile.intrinsics.vectors import fence, fma, load, splat, store, store_streaming, sum_of
from benchmarks.peer import Variant
from benchmarks.workload import Array, Workload

LANES = vector_bytes() // 4
_TURNS = 200_000
_CHAINS = 12
_CELLS = 1 << 24


@numba.njit(parallel=True)
def _products(start: Array, sums: Array) -> None:
    for thread in numba.prange(sums.size):
        x = splat(start[0], LANES)
        a = b = c = d = e = f = x
        g = h = i = j = k = m = x
        for _ in range(_TURNS):
            a = fma(x, x, a)
            b = fma(x, x, b)
            c = fma(x, x, c)
            d = fma(x, x, d)
            e = fma(x, x, e)
            f = fma(x, x, f)
            g = fma(x, x, g)
            h = fma(x, x, h)
            i = fma(x, x, i)
            j = fma(x, x, j)
            k = fma(x, x, k)
            m = fma(x, x, m)
        sums[thread] = sum_of(a + b + c + d + e + f + g + h + i + j + k + m)


@numba.njit(parallel=True)
def _copied(x: Array, out: Array) -> None:
    for part in numba.prange(x.size // 65536):
        for j in range(part * 65536, part * 65536 + 65536, LANES):
            store(out, j, load(x, j, LANES))


@numba.njit(parallel=True)
def _streamed(x: Array, out: Array) -> None:
    for part in numba.prange(x.size // 65536):
        for j in range(part * 65536, part * 65536 + 65536, LANES):
            store_streaming(out, j, load(x, j, LANES))
        fence()


def _aligned(cells: int) -> Array:
    raw = np.full(cells + 16, 0.0, np.float32)
    skipped = -raw.ctypes.data % 64 // 4
    return raw[skipped : skipped + cells]


def limits(threads: int) -> dict[str, tuple[Callable[[], object], float]]:
    """Limit -> what to run, and the operations or bytes of one run.

    Args:
        threads: of this process.
    """
    start, sums = np.full(1, 1e-3, np.float32), np.zeros(threads, np.float32)
    x, out = _aligned(_CELLS), _aligned(_CELLS)
    operations = 2.0 * threads * _TURNS * _CHAINS * LANES
    return {
        "flops": (lambda: _products(start, sums), operations),
        "copied": (lambda: _copied(x, out), 8.0 * _CELLS),
        "streamed": (lambda: _streamed(x, out), 8.0 * _CELLS),
    }


def variants(workload: Workload, arguments: Sequence[Any], threads: int) -> dict[str, Variant]:
    """It computes no workload."""
    return {}
