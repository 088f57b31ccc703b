"""Attention of one head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.workload import Array, Workload, blank, normal

if TYPE_CHECKING:
    from astile import Schedule

_LENGTH, _DEPTH = 1024, 64


def attention(Q: Array, K: Array, V: Array, out: Array) -> None:
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


def _queries_on_cores(s: Schedule) -> None:
    s.parallel("i")


WORKLOADS = (
    Workload(
        "attention",
        attention,
        _queries_on_cores,
        lambda: (
            normal(_LENGTH, _DEPTH),
            normal(_LENGTH, _DEPTH, seed=8),
            normal(_LENGTH, _DEPTH, seed=9),
            blank(_LENGTH, _DEPTH),
        ),
        _reference,
        flops=4.0 * _LENGTH**2 * _DEPTH,
    ),
)
