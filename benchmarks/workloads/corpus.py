"""Programs of many kinds, as people write them, for what bare `@tile` makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload, blank, normal


def gemm(A: Array, B: Array, C: Array, out: Array) -> None:
    N, M = out.shape
    K = A.shape[1]
    alpha, beta = np.float32(1.5), np.float32(1.2)
    for i in range(N):
        for j in range(M):
            out[i, j] = beta * C[i, j]
        for k in range(K):
            for j in range(M):
                out[i, j] += alpha * A[i, k] * B[k, j]


def two_mm(A: Array, B: Array, C: Array, out: Array) -> None:
    N, K = A.shape
    M = B.shape[1]
    L = C.shape[1]
    T = np.empty((N, M), np.float32)
    for i in range(N):
        for j in range(M):
            T[i, j] = np.float32(0)
            for k in range(K):
                T[i, j] += A[i, k] * B[k, j]
    for i in range(N):
        for j in range(L):
            out[i, j] = np.float32(0)
            for k in range(M):
                out[i, j] += T[i, k] * C[k, j]


def covariance(data: Array, mean: Array, out: Array) -> None:
    N, M = data.shape
    for i in range(M):
        mean[i] = np.float32(0)
        for k in range(N):
            mean[i] += data[k, i]
        mean[i] = mean[i] / np.float32(N)
    for i in range(M):
        for j in range(M):
            out[i, j] = np.float32(0)
            for k in range(N):
                out[i, j] += (data[k, i] - mean[i]) * (data[k, j] - mean[j])
            out[i, j] = out[i, j] / np.float32(N - 1)


def hdiff(x: Array, weight: Array, out: Array) -> None:
    H, W = out.shape
    lap = np.empty((H + 2, W + 2), np.float32)
    down = np.empty((H + 1, W), np.float32)
    right = np.empty((H, W + 1), np.float32)
    for i in range(H + 2):
        for j in range(W + 2):
            around = x[i, j + 1] + x[i + 2, j + 1] + x[i + 1, j] + x[i + 1, j + 2]
            lap[i, j] = np.float32(4) * x[i + 1, j + 1] - around
    for i in range(H + 1):
        for j in range(W):
            flux = lap[i + 1, j + 1] - lap[i, j + 1]
            falls = flux * (x[i + 2, j + 2] - x[i + 1, j + 2]) > np.float32(0)
            down[i, j] = np.float32(0) if falls else flux
    for i in range(H):
        for j in range(W + 1):
            flux = lap[i + 1, j + 1] - lap[i + 1, j]
            falls = flux * (x[i + 2, j + 2] - x[i + 2, j + 1]) > np.float32(0)
            right[i, j] = np.float32(0) if falls else flux
    for i in range(H):
        for j in range(W):
            change = down[i + 1, j] - down[i, j] + right[i, j + 1] - right[i, j]
            out[i, j] = x[i + 2, j + 2] - weight[i, j] * change


def fdtd(steps: int, ex: Array, ey: Array, hz: Array) -> None:
    H, W = hz.shape
    half = np.float32(0.5)
    for _ in range(steps):
        for i in range(1, H):
            for j in range(W):
                ey[i, j] = ey[i, j] - half * (hz[i, j] - hz[i - 1, j])
        for i in range(H):
            for j in range(1, W):
                ex[i, j] = ex[i, j] - half * (hz[i, j] - hz[i, j - 1])
        for i in range(H - 1):
            for j in range(W - 1):
                change = ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j]
                hz[i, j] = hz[i, j] - np.float32(0.7) * change


def life(steps: int, board: Array, other: Array) -> None:
    H, W = board.shape
    for _ in range(steps):
        for i in range(1, H - 1):
            for j in range(1, W - 1):
                around = 0
                for p in range(3):
                    for q in range(3):
                        around += board[i + p - 1, j + q - 1]
                lives = around == 3 or (around == 4 and board[i, j] == 1)
                other[i, j] = 1 if lives else 0
        for i in range(1, H - 1):
            for j in range(1, W - 1):
                board[i, j] = other[i, j]


def unsharp(x: Array, out: Array) -> None:
    H, W = out.shape
    down = np.empty((H, W + 4), np.float32)
    soft = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W + 4):
            near = x[i + 1, j] + x[i + 3, j]
            far = x[i, j] + x[i + 4, j]
            down[i, j] = np.float32(0.4) * x[i + 2, j] + np.float32(0.24) * near
            down[i, j] += np.float32(0.06) * far
    for i in range(H):
        for j in range(W):
            near = down[i, j + 1] + down[i, j + 3]
            far = down[i, j] + down[i, j + 4]
            soft[i, j] = np.float32(0.4) * down[i, j + 2] + np.float32(0.24) * near
            soft[i, j] += np.float32(0.06) * far
    for i in range(H):
        for j in range(W):
            sharp = np.float32(2) * x[i + 2, j + 2] - soft[i, j]
            out[i, j] = min(max(sharp, np.float32(0)), np.float32(1))


def depthwise(x: Array, w: Array, out: Array) -> None:
    C, H, W = out.shape
    for c in range(C):
        for i in range(H):
            for j in range(W):
                total = np.float32(0)
                for p in range(3):
                    for q in range(3):
                        total += w[c, p, q] * x[c, i + p, j + q]
                out[c, i, j] = min(max(total, np.float32(0)), np.float32(6))


def bn_gelu(x: Array, mean: Array, scale: Array, out: Array) -> None:
    N, C, P = x.shape
    T = np.empty((N, C, P), np.float32)
    for i in range(N):
        for c in range(C):
            for p in range(P):
                T[i, c, p] = (x[i, c, p] - mean[c]) * scale[c]
    for i in range(N):
        for c in range(C):
            for p in range(P):
                cube = T[i, c, p] * T[i, c, p] * T[i, c, p]
                inner = np.float32(0.79788456) * (T[i, c, p] + np.float32(0.044715) * cube)
                out[i, c, p] = np.float32(0.5) * T[i, c, p] * (np.float32(1) + np.tanh(inner))


def chamfer(d: Array) -> None:
    H, W = d.shape
    for y in range(1, H):
        for x in range(1, W - 1):
            near = min(d[y - 1, x], d[y, x - 1]) + np.float32(3)
            far = min(d[y - 1, x - 1], d[y - 1, x + 1]) + np.float32(4)
            d[y, x] = min(d[y, x], min(near, far))


# --- references ---------------------------------------------------------------------------------


def _covariance(data: Array, mean: Array, out: Array) -> Array:
    return np.cov(data, rowvar=False)


def _hdiff(x: Array, weight: Array, out: Array) -> Array:
    lap = 4 * x[1:-1, 1:-1] - (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
    down = lap[1:, 1:-1] - lap[:-1, 1:-1]
    down = np.where(down * (x[2:-1, 2:-2] - x[1:-2, 2:-2]) > 0, 0, down)
    right = lap[1:-1, 1:] - lap[1:-1, :-1]
    right = np.where(right * (x[2:-2, 2:-1] - x[2:-2, 1:-2]) > 0, 0, right)
    change = down[1:] - down[:-1] + right[:, 1:] - right[:, :-1]
    found: Array = x[2:-2, 2:-2] - weight * change
    return found


def _fdtd(steps: int, ex: Array, ey: Array, hz: Array) -> Array:
    for _ in range(steps):
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz


def _life(steps: int, board: Array, other: Array) -> Array:
    H, W = board.shape
    for _ in range(steps):
        around = sum(board[p : H - 2 + p, q : W - 2 + q] for p in range(3) for q in range(3))
        inside = board[1:-1, 1:-1]
        board[1:-1, 1:-1] = (around == 3) | ((around == 4) & (inside == 1))
    return board


def _unsharp(x: Array, out: Array) -> Array:
    weights = (0.06, 0.24, 0.4, 0.24, 0.06)
    H, W = out.shape
    down = sum(w * x[k : k + H] for k, w in enumerate(weights))
    soft = sum(w * down[:, k : k + W] for k, w in enumerate(weights))
    return np.clip(2 * x[2:-2, 2:-2] - soft, 0, 1)


def _depthwise(x: Array, w: Array, out: Array) -> Array:
    _, H, W = out.shape
    total = np.zeros_like(out)
    for p in range(3):
        for q in range(3):
            total += w[:, p, q, None, None] * x[:, p : p + H, q : q + W]
    return np.clip(total, 0, 6)


def _bn_gelu(x: Array, mean: Array, scale: Array, out: Array) -> Array:
    t = (x - mean[:, None]) * scale[:, None]
    return 0.5 * t * (1 + np.tanh(0.79788456 * (t + 0.044715 * t**3)))


def _chamfer(d: Array) -> Array:
    for y in range(1, d.shape[0]):
        above = d[y - 1]
        row = d[y].copy()
        far = np.minimum(above[:-2], above[2:]) + 4
        row[1:-1] = np.minimum(row[1:-1], np.minimum(above[1:-1] + 3, far))
        steps = 3 * np.arange(row.size - 1)
        row[:-1] = np.minimum.accumulate(row[:-1] - steps) + steps  # from the left
        d[y] = row
    return d


def _distances() -> tuple[Array]:
    d = blank(2048, 2048)
    d[...] = np.where(np.random.default_rng(7).random(d.shape) < 0.001, 0, 9999)
    return (d,)


def _board() -> tuple[int, Array, Array]:
    board = (np.random.default_rng(7).random((2048, 2048)) < 0.35).astype(np.int32)
    return 4, board, board.copy()


def _bare(
    function: Callable[..., None],
    inputs: Callable[[], tuple[Any, ...]],
    reference: Callable[..., Array],
    on_cores: tuple[str, ...] = ("i",),
    result: int = -1,
) -> Workload:
    return Workload(
        function.__name__, function, None, inputs, reference, on_cores=on_cores, result=result
    )


WORKLOADS = (
    _bare(
        gemm,
        lambda: (*(normal(600, 600, seed=s) for s in (7, 8, 9)), blank(600, 600)),
        lambda A, B, C, out: 1.5 * (A @ B) + 1.2 * C,
    ),
    _bare(
        two_mm,
        lambda: (*(normal(500, 500, seed=s) for s in (7, 8, 9)), blank(500, 500)),
        lambda A, B, C, out: A @ B @ C,
    ),
    _bare(covariance, lambda: (normal(600, 500), blank(500), blank(500, 500)), _covariance),
    _bare(
        hdiff,
        lambda: (normal(2052, 2052), normal(2048, 2048, seed=8), blank(2048, 2048)),
        _hdiff,
    ),
    _bare(fdtd, lambda: (8, *(normal(1200, 1200, seed=s) for s in (7, 8, 9))), _fdtd),
    _bare(life, _board, _life, result=1),
    _bare(unsharp, lambda: (normal(3004, 3004), blank(3000, 3000)), _unsharp),
    _bare(
        depthwise,
        lambda: (normal(256, 258, 258), normal(256, 3, 3, seed=8), blank(256, 256, 256)),
        _depthwise,
        on_cores=("c",),
    ),
    _bare(
        bn_gelu,
        lambda: (normal(8, 64, 4096), normal(64, seed=8), normal(64, seed=9), blank(8, 64, 4096)),
        _bn_gelu,
    ),
    _bare(chamfer, _distances, _chamfer, on_cores=()),
)
