"""Bytes, letters and numbers as strings spell them; elements that are counted or turned around."""

from __future__ import annotations

import math

import numpy as np

from tests.realworld.case import Cases

CASES = Cases()

BASES = np.frombuffer(b"ACGTN", np.uint8)


@CASES.case(lambda n, g: (g.choice(BASES, n),))
def reverse_complement(bases):
    out = np.empty_like(bases)
    n = len(bases)
    for i in range(n):
        base = bases[n - 1 - i]
        if base == ord("A"):
            out[i] = ord("T")
        elif base == ord("T"):
            out[i] = ord("A")
        elif base == ord("C"):
            out[i] = ord("G")
        elif base == ord("G"):
            out[i] = ord("C")
        else:
            out[i] = base
    return out


@CASES.case(lambda n, g: (g.random(n), g.random(n)))
def pearson(x, y):
    n = len(x)
    sx = sy = sxx = syy = sxy = 0.0
    for a, b in zip(x, y):  # noqa: B905
        sx += a
        sy += b
        sxx += a * a
        syy += b * b
        sxy += a * b
    size = math.sqrt(max(n * sxx - sx**2, 0.0)) * math.sqrt(max(n * syy - sy**2, 0.0))
    if size <= 1e-9:
        return float("nan")
    return (n * sxy - sx * sy) / size


@CASES.case(lambda n, g: (g.random((n, n)),))
def extremes_of_rows(A):
    out = np.empty((A.shape[0], 2))
    for i in range(A.shape[0]):
        low, high = float("inf"), float("-inf")
        for j in range(A.shape[1]):
            low = min(low, A[i, j])
            high = max(high, A[i, j])
        out[i, 0], out[i, 1] = low, high
    return out


@CASES.case(lambda n, g: (g.random(n), g.random(n)))
def weighted_ranks(values, weights):
    total = 0.0
    for rank, (value, weight) in enumerate(zip(values, weights), start=1):  # noqa: B905
        total += rank * value * weight
    for value in reversed(values):
        total = total / 2 + value
    return total


@CASES.case(lambda n, g: (g.integers(0, 256, (n, n)).astype(np.uint8),))
def equalize(image):
    counts = np.zeros(256, np.int64)
    for value in image.ravel():
        counts[value] += 1
    below = np.zeros(256, np.int64)
    so_far = 0
    for k in range(256):
        so_far += counts[k]
        below[k] = so_far
    least = 0
    for k in range(256):
        if below[k] > 0:
            least = below[k]
            break
    out = np.zeros_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            out[i, j] = (below[image[i, j]] - least) * 255 // max(image.size - least, 1)
    return out
