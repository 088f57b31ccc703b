"""Products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.workload import Array, Workload, blank, normal

if TYPE_CHECKING:
    from astile import Schedule


def matmul(A: Array, B: Array, C: Array) -> None:
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = np.float32(0)
        for k in range(K):
            for j in range(N):
                C[i, j] += A[i, k] * B[k, j]


def _rows_on_cores(s: Schedule) -> None:
    s.parallel("i")


def _sized(size: int) -> Workload:
    return Workload(
        f"matmul{size}",
        matmul,
        _rows_on_cores,
        lambda: (normal(size, size), normal(size, size, seed=8), blank(size, size)),
        lambda A, B, C: A @ B,
        flops=2.0 * size**3,
    )


WORKLOADS = (_sized(1024), _sized(2048))
