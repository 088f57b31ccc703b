"""NumPy as people write it, into arrays that are there already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.peer import Variant
from benchmarks.workload import Array, Workload

_f32 = np.float32


def variants(workload: Workload, arguments: Sequence[Any], threads: int) -> dict[str, Variant]:
    """One form each; none for programs that are no work for whole arrays."""
    make = _CALLS.get(workload.name)
    if make is None:
        return {}
    return {"arrays": Variant(make(*arguments), lambda: arguments[workload.result])}


def _matmul(a: Array, b: Array, c: Array) -> Callable[[], object]:
    return lambda: np.matmul(a, b, out=c)


def _conv1(x: Array, w: Array, residual: Array, out: Array) -> Callable[[], object]:
    height, width = out.shape
    product = np.empty_like(out)

    def call() -> None:
        np.copyto(out, residual)
        for p in range(3):
            for q in range(3):
                np.multiply(x[p : p + height, q : q + width], w[p, q], out=product)
                np.add(out, product, out=out)
        np.maximum(out, _f32(0), out=out)

    return call


def _conv32(x: Array, w: Array, residual: Array, out: Array) -> Callable[[], object]:
    maps, height, width = out.shape
    channels = x.shape[0]
    weights = w.reshape(maps, -1).copy()
    columns = np.empty((channels, 3, 3, height, width), _f32)

    def call() -> None:
        for p in range(3):
            for q in range(3):
                columns[:, p, q] = x[:, p : p + height, q : q + width]
        flat = columns.reshape(channels * 9, -1)
        np.matmul(weights, flat, out=out.reshape(maps, -1))
        np.add(out, residual, out=out)
        np.maximum(out, _f32(0), out=out)

    return call


def _blur(x: Array, out: Array) -> Callable[[], object]:
    across = np.empty((x.shape[0], out.shape[1]), _f32)
    third = _f32(1 / 3)

    def call() -> None:
        np.add(x[:, :-2], x[:, 1:-1], out=across)
        np.add(across, x[:, 2:], out=across)
        np.multiply(across, third, out=across)
        np.add(across[:-2], across[1:-1], out=out)
        np.add(out, across[2:], out=out)
        np.multiply(out, third, out=out)

    return call


def _harris(x: Array, out: Array) -> Callable[[], object]:
    def box(p: Array) -> Array:
        rows = p[:-2] + p[1:-1] + p[2:]
        return rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]

    def call() -> None:
        d = x[:, 2:] - x[:, :-2]
        dx = (d[:-2] + _f32(2) * d[1:-1] + d[2:]) * _f32(1 / 12)
        d = x[2:] - x[:-2]
        dy = (d[:, :-2] + _f32(2) * d[:, 1:-1] + d[:, 2:]) * _f32(1 / 12)
        a, b, c = box(dx * dx), box(dy * dy), box(dx * dy)
        np.subtract(a * b - c * c, _f32(0.04) * (a + b) ** 2, out=out)

    return call


def _jacobi(steps: int, a: Array, b: Array) -> Callable[[], object]:
    def sweep(x: Array, y: Array) -> None:
        inside = y[1:-1, 1:-1]
        np.add(x[1:-1, 1:-1], x[1:-1, :-2], out=inside)
        np.add(inside, x[1:-1, 2:], out=inside)
        np.add(inside, x[:-2, 1:-1], out=inside)
        np.add(inside, x[2:, 1:-1], out=inside)
        np.multiply(inside, _f32(0.2), out=inside)

    def call() -> None:
        b[:] = a
        for _ in range(steps):
            sweep(a, b)
            sweep(b, a)

    return call


def _softmax(x: Array, out: Array) -> Callable[[], object]:
    def call() -> None:
        np.subtract(x, x.max(axis=1, keepdims=True), out=out)
        np.exp(out, out=out)
        np.divide(out, out.sum(axis=1, keepdims=True), out=out)

    return call


def _layernorm(x: Array, gain: Array, bias: Array, out: Array) -> Callable[[], object]:
    def call() -> None:
        np.subtract(x, x.mean(axis=1, keepdims=True), out=out)
        variance = np.einsum("ij,ij->i", out, out)[:, None] / _f32(x.shape[1])
        np.multiply(out, 1 / np.sqrt(variance + _f32(1e-5)), out=out)
        np.multiply(out, gain, out=out)
        np.add(out, bias, out=out)

    return call


def _attention(q: Array, k: Array, v: Array, out: Array) -> Callable[[], object]:
    scores = np.empty((q.shape[0], k.shape[0]), _f32)

    def call() -> None:
        np.matmul(q, k.T, out=scores)
        np.multiply(scores, _f32(0.125), out=scores)
        np.subtract(scores, scores.max(axis=1, keepdims=True), out=scores)
        np.exp(scores, out=scores)
        np.divide(scores, scores.sum(axis=1, keepdims=True), out=scores)
        np.matmul(scores, v, out=out)

    return call


_CALLS: dict[str, Callable[..., Callable[[], object]]] = {
    "matmul1024": _matmul,
    "matmul2048": _matmul,
    "conv1": _conv1,
    "conv32": _conv32,
    "blur": _blur,
    "harris": _harris,
    "jacobi": _jacobi,
    "softmax": _softmax,
    "layernorm": _layernorm,
    "transpose": lambda x, out: lambda: np.copyto(out, x.T),
    "attention": _attention,
}
