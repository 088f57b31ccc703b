"""Stencils: a small convolution, chains of stencils over images, and sweeps over a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.workload import Array, Workload, blank, normal

if TYPE_CHECKING:
    from astile import Schedule

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
    twelfth = np.float32(1 / 12)
    xx = np.empty((H + 2, W + 2), np.float32)
    yy = np.empty((H + 2, W + 2), np.float32)
    xy = np.empty((H + 2, W + 2), np.float32)
    for i in range(H + 2):
        for j in range(W + 2):
            dx = (
                (x[i, j + 2] - x[i, j])
                + np.float32(2) * (x[i + 1, j + 2] - x[i + 1, j])
                + (x[i + 2, j + 2] - x[i + 2, j])
            ) * twelfth
            dy = (
                (x[i + 2, j] - x[i, j])
                + np.float32(2) * (x[i + 2, j + 1] - x[i, j + 1])
                + (x[i + 2, j + 2] - x[i, j + 2])
            ) * twelfth
            xx[i, j] = dx * dx
            yy[i, j] = dy * dy
            xy[i, j] = dx * dy
    for i in range(H):
        for j in range(W):
            a = np.float32(0)
            b = np.float32(0)
            c = np.float32(0)
            for p in range(3):
                for q in range(3):
                    a += xx[i + p, j + q]
                    b += yy[i + p, j + q]
                    c += xy[i + p, j + q]
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
    for _ in range(steps):
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


def _outermost_on_cores(s: Schedule) -> None:
    for loop in s.loops():
        if loop.var == "i":
            s.parallel(loop)


WORKLOADS = (
    Workload(
        "conv1",
        conv1,
        _outermost_on_cores,
        _conv1_inputs,
        _conv1_reference,
        flops=224.0**2 * 20,
    ),
    Workload(
        "blur",
        blur,
        _outermost_on_cores,
        lambda: (normal(4098, 4098), blank(4096, 4096)),
        _blur_reference,
        bytes=8.0 * 4096**2,
    ),
    Workload(
        "harris",
        harris,
        _outermost_on_cores,
        lambda: (normal(2052, 2052), blank(2048, 2048)),
        _harris_reference,
        bytes=8.0 * 2048**2,
    ),
    Workload(
        "jacobi",
        jacobi,
        _outermost_on_cores,
        _jacobi_inputs,
        _jacobi_reference,
        bytes=_STEPS * 8.0 * 2048**2,
        result=1,
    ),
)
