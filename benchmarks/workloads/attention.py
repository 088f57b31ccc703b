"""Attention of one head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astile.schedule import recipes
from benchmarks.workload import Array, Workload, blank, normal

if TYPE_CHECKING:
    from astile import Schedule
    from astile.schedule.select import Loop

_LENGTH, _DEPTH = 1024, 64


def attention(Q: Array, K: Array, V: Array, out: Array) -> None:
    N, D = Q.shape
    M = K.shape[0]
    T = np.empty((D, M), np.float32)
    S = np.empty((N, M), np.float32)
    total = np.empty(N, np.float32)
    for t in range(M):
        for c in range(D):
            T[c, t] = K[t, c] * np.float32(0.125)
    for i in range(N):
        for j in range(M):
            S[i, j] = np.float32(0)
            for d in range(D):
                S[i, j] += Q[i, d] * T[d, j]
    for row in range(N):
        largest = -np.inf
        for u in range(M):
            largest = max(largest, S[row, u])
        powers = 0.0
        for u in range(M):
            S[row, u] = np.exp(S[row, u] - largest)
            powers += S[row, u]
        total[row] = powers
    for p in range(N):
        for q in range(D):
            out[p, q] = np.float32(0)
            for k in range(M):
                out[p, q] += S[p, k] * V[k, q]
    for r in range(N):
        for e in range(D):
            out[r, e] = out[r, e] / total[r]


def attention_numba(Q: Array, K: Array, V: Array, out: Array) -> None:
    N, D = Q.shape
    M = K.shape[0]
    for i in range(N):
        S = np.empty(M, np.float32)
        largest = np.float32(-np.inf)
        for j in range(M):
            score = np.float32(0)
            for d in range(D):
                score += Q[i, d] * K[j, d]
            S[j] = score * np.float32(0.125)
            largest = max(largest, S[j])
        total = np.float32(0)
        for j in range(M):
            S[j] = np.exp(S[j] - largest)
            total += S[j]
        for d in range(D):
            out[i, d] = np.float32(0)
        for j in range(M):
            for d in range(D):
                out[i, d] += S[j] * V[j, d]
        for d in range(D):
            out[i, d] = out[i, d] / total


def _reference(Q: Array, K: Array, V: Array, out: Array) -> Array:
    S = Q @ K.T / 8
    powers = np.exp(S - S.max(axis=1, keepdims=True))
    result: Array = (powers / powers.sum(axis=1, keepdims=True)) @ V
    return result


def _product(s: Schedule, result: str, rows: str, columns: str, summed: str) -> Loop:
    """A product in tiles of 6 x 64 sums, 24 rows for a block; the loop over blocks."""
    block, tile, row = s.split(rows, [None, 4, 6])
    strip, lane = s.split(columns, [None, 64])
    s.reorder(block, strip, tile, summed, row, lane)
    stored = s.cache_write(result, "local", at=tile)
    for each in s.loops():
        if each.var == row.var or each == stored[-2]:
            s.unroll(each)
        elif each.var == lane.var or each == stored[-1]:
            s.vectorize(each)
    summed_in_full = s.handle(summed)
    s.specialize(f"{block.var} * 24 + {tile.var} * 6 + 6 <= N", summed_in_full)
    s.unroll(summed_in_full, 4)
    return block


def _blocks_of_queries(s: Schedule) -> None:
    """All stages for 24 queries at a time; keys in panels, products in register tiles."""
    panel, lane = s.split("t", [None, 64], names=["panel", "lane"])
    s.reorder(panel, "c", lane)
    s.transform_layout("T", lambda d, j: (j // 64, d, j % 64))
    s.vectorize(lane)
    s.parallel(panel)
    recipes.row_vectors(s, "row")
    s.vectorize("e")
    block = _product(s, "S", "i", "j", "d")
    parts = [
        s.split("row", [None, 24])[0],
        _product(s, "out", "p", "q", "k"),
        s.split("r", [None, 24])[0],
    ]
    for each in parts:
        block = s.merge(block, each)[0]
    s.set_scope("S", "local")
    s.set_scope("total", "local")
    s.parallel(block)


WORKLOADS = (
    Workload(
        "attention",
        attention,
        _blocks_of_queries,
        lambda: (
            normal(_LENGTH, _DEPTH),
            normal(_LENGTH, _DEPTH, seed=8),
            normal(_LENGTH, _DEPTH, seed=9),
            blank(_LENGTH, _DEPTH),
        ),
        _reference,
        plain=attention_numba,
        flops=4.0 * _LENGTH**2 * _DEPTH,
    ),
)
