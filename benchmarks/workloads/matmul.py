"""Products of matrices."""

from __future__ import annotations

import numpy as np

from astile.schedule import recipes
from benchmarks.workload import Array, Workload, blank, normal


def matmul(A: Array, B: Array, C: Array) -> None:
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = np.float32(0)
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]


def matmul_along_rows(A: Array, B: Array, C: Array) -> None:
    """The same loops in the order in which numba makes vectors of them."""
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = np.float32(0)
        for k in range(K):
            for j in range(N):
                C[i, j] += A[i, k] * B[k, j]


def _sized(size: int) -> Workload:
    return Workload(
        f"matmul{size}",
        matmul,
        recipes.packed_matmul,
        lambda: (normal(size, size), normal(size, size, seed=8), blank(size, size)),
        lambda A, B, C: A @ B,
        plain=matmul_along_rows,
        flops=2.0 * size**3,
    )


WORKLOADS = (_sized(1024), _sized(2048))
