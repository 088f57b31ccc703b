"""Programs that reduce each row and then go over it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astile.schedule import recipes
from benchmarks.workload import Array, Workload, blank, normal

if TYPE_CHECKING:
    from astile import Schedule

_SIZE = 4096


def softmax(x: Array, out: Array) -> None:
    N, M = x.shape
    for i in range(N):
        powers = np.empty(M, np.float32)
        largest = -np.inf
        for j in range(M):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(M):
            powers[j] = np.exp(x[i, j] - largest)
            total += powers[j]
        scale = np.float32(1) / total
        for j in range(M):
            out[i, j] = powers[j] * scale


def softmax_numba(x: Array, out: Array) -> None:
    N, M = x.shape
    for i in range(N):
        largest = x[i, 0]
        for j in range(M):
            largest = max(largest, x[i, j])
        total = np.float32(0)
        for j in range(M):
            power = np.exp(x[i, j] - largest)
            out[i, j] = power
            total += power
        scale = np.float32(1) / total
        for j in range(M):
            out[i, j] *= scale


def _softmax_reference(x: Array, out: Array) -> Array:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    quotients: Array = powers / powers.sum(axis=1, keepdims=True)
    return quotients


def layernorm(x: Array, gain: Array, bias: Array, out: Array) -> None:
    N, M = x.shape
    for i in range(N):
        total = 0.0
        for j in range(M):
            total += x[i, j]
        mean = total / np.float32(M)
        squares = 0.0
        for j in range(M):
            squares += (x[i, j] - mean) * (x[i, j] - mean)
        scale = np.float32(1) / np.sqrt(squares / np.float32(M) + np.float32(1e-5))
        for j in range(M):
            out[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]


def layernorm_numba(x: Array, gain: Array, bias: Array, out: Array) -> None:
    N, M = x.shape
    for i in range(N):
        total = np.float32(0)
        for j in range(M):
            total += x[i, j]
        mean = total / np.float32(M)
        squares = np.float32(0)
        for j in range(M):
            squares += (x[i, j] - mean) * (x[i, j] - mean)
        scale = np.float32(1) / np.sqrt(squares / np.float32(M) + np.float32(1e-5))
        for j in range(M):
            out[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]


def _layernorm_reference(x: Array, gain: Array, bias: Array, out: Array) -> Array:
    centred = x - x.mean(axis=1, keepdims=True)
    scaled: Array = centred / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    return scaled * gain + bias


def _rows_in_vectors(s: Schedule) -> None:
    """Rows in vectors, the next one on its way from memory while one is computed."""
    recipes.vector_rows(s, "i")
    s.annotate("i_1", "prefetch", 1)
    s.annotate(s.loops("out")[-1], "store", "streaming")


WORKLOADS = (
    Workload(
        "softmax",
        softmax,
        _rows_in_vectors,
        lambda: (normal(_SIZE, _SIZE), blank(_SIZE, _SIZE)),
        _softmax_reference,
        plain=softmax_numba,
        bytes=8.0 * _SIZE**2,
    ),
    Workload(
        "layernorm",
        layernorm,
        _rows_in_vectors,
        lambda: (
            normal(_SIZE, _SIZE),
            normal(_SIZE, seed=8),
            normal(_SIZE, seed=9),
            blank(_SIZE, _SIZE),
        ),
        _layernorm_reference,
        plain=layernorm_numba,
        bytes=8.0 * _SIZE**2,
    ),
)
