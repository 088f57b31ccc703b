"""Programs that schedules made and the proof accepted, with arguments to run them on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from astile.schedule.schedule import Schedule


def conv_add(x, w, bias, out):
    H, W = out.shape
    conv = np.empty((H, W), np.float64)
    for i in range(H):
        for j in range(W):
            acc = 0.0
            for a in range(3):
                for b in range(2):
                    acc += x[i + a, j + b] * w[a, b]
            conv[i, j] = acc
    for i in range(H):
        for j in range(W):
            out[i, j] = conv[i, j] + bias[i, j]


def blur(x, out):
    H, W = out.shape
    rows = np.empty((H + 2, W), np.float64)
    for i in range(H + 2):
        for j in range(W):
            rows[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(H):
        for j in range(W):
            out[i, j] = rows[i, j] + rows[i + 1, j] - rows[i + 2, j]


def matmul(A, B, C):
    M, N = C.shape
    K = A.shape[1]
    for i in range(M):
        for j in range(N):
            acc = 0.0
            for k in range(K):
                acc += A[i, k] * B[k, j]
            C[i, j] = acc


def scale_then_shift(x, a, out):
    n = len(x)
    for i in range(n):
        a[i] = x[i] * 2.0
    for k in range(n - 1):
        out[k] = a[k] - a[k + 1]


def running(x, out):
    n = len(x)
    for i in range(1, n):
        x[i] = x[i - 1] + x[i]
    for i in range(n):
        out[i] = x[i] * 3.0


def transpose_add(x, out):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            out[j, i] = x[i, j] - 2.0 * x[i, 0]


def _conv(s: Schedule) -> None:
    _, j_0, _, _ = s.tile(["out.i", "out.j"], [2, 3])
    s.compute_at("conv", j_0)
    s.set_scope("conv", "local")


def _blur(s: Schedule) -> None:
    _, j_0, _, _ = s.tile(["out.i", "out.j"], [3, 2])
    s.compute_at("rows", j_0)
    s.set_scope("rows", "local")


def _matmul(s: Schedule) -> None:
    k_0, k_1 = s.split("k", [None, 2])
    i_0, j_0, i_1, j_1 = s.tile(["i", "j"], [2, 2])
    s.reorder(i_0, j_0, k_0, i_1, j_1, k_1)


def _cut(s: Schedule) -> None:
    s.split("k", [None, 3], tail="cut")


def _merge(s: Schedule) -> None:
    s.split("x.i", [None, 2])
    s.split("out.i", [None, 2], names=["p", "q"])


def _transpose(s: Schedule) -> None:
    s.tile(["i", "j"], [2, 3])
    s.split("j_1", [None, 2])


@dataclass(frozen=True)
class Scenario:
    """A function, a schedule that is proved, and sizes to run both on."""

    function: Callable[..., Any]
    schedule: Callable[[Schedule], None]
    arguments: Callable[[int, int, np.random.Generator], tuple[np.ndarray, ...]]

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.__name__


def _whole(g: np.random.Generator, *shape: int) -> np.ndarray:
    """Small whole numbers: sums of them are exact in any order."""
    return g.integers(-9, 10, shape).astype(np.float64)


SCENARIOS = (
    Scenario(
        conv_add,
        _conv,
        lambda n, m, g: (
            _whole(g, n + 2, m + 1),
            _whole(g, 3, 2),
            _whole(g, n, m),
            _whole(g, n, m),
        ),
    ),
    Scenario(blur, _blur, lambda n, m, g: (_whole(g, n + 2, m + 2), _whole(g, n, m))),
    Scenario(matmul, _matmul, lambda n, m, g: (_whole(g, n, 5), _whole(g, 5, m), _whole(g, n, m))),
    Scenario(scale_then_shift, _cut, lambda n, m, g: (_whole(g, n), _whole(g, n), _whole(g, n))),
    Scenario(running, _merge, lambda n, m, g: (_whole(g, n), _whole(g, n))),
    Scenario(transpose_add, _transpose, lambda n, m, g: (_whole(g, n, m), _whole(g, m, n))),
)

#: Sizes at which programs are run: none, one, less and more than a tile, primes.
SIZES = ((0, 3), (1, 1), (2, 3), (3, 2), (4, 7), (7, 5), (8, 8))
