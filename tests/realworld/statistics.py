"""Statistics: moments, moving windows, groups, ranks."""

from __future__ import annotations

import math

import numpy as np

from tests.realworld.case import Cases

CASES = Cases()

MIN_COUNT = 1


def holes(n, g):
    values = g.standard_normal(n)
    values[g.random(n) < 0.3] = np.nan
    return values


@CASES.case(lambda n, g: (holes(n, g), 3, np.zeros(n)))
def move_nanmean(values, window, out):
    total = 0.0
    count = 0
    for i in range(len(values)):
        new = values[i]
        if not np.isnan(new):
            total += new
            count += 1
        if i >= window:
            old = values[i - window]
            if not np.isnan(old):
                total -= old
                count -= 1
        out[i] = total / count if count >= MIN_COUNT else np.nan


@CASES.case(lambda n, g: (holes(n, g), g.integers(0, 3, n), np.zeros(3)))
def group_nanmean(values, labels, out):
    counts = np.zeros(out.shape, dtype=np.int64)
    out[:] = 0.0
    for i in range(len(labels)):
        label = labels[i]
        if label < 0:
            continue
        if not math.isnan(values[i]):
            counts[label] += 1
            out[label] += values[i]
    for k in range(len(out)):
        if counts[k] == 0:
            out[k] = np.nan
        else:
            out[k] /= counts[k]


@CASES.case(lambda n, g: (holes(n, g), 2, np.zeros(n)))
def forward_fill(values, limit, out):
    last = np.nan
    since = 0
    for i, value in enumerate(values):
        if np.isnan(value):
            since += 1
            if since <= limit:
                out[i] = last
            else:
                out[i] = np.nan
        else:
            since = 0
            last = value
            out[i] = value


@CASES.case(lambda n, g: (holes(n, g), np.zeros(n)))
def backward_fill(values, out):
    last = np.nan
    for i in range(len(values) - 1, -1, -1):
        if not np.isnan(values[i]):
            last = values[i]
        out[i] = last


@CASES.case(lambda n, g: (holes(n, g),))
def nan_argmax(values):
    best = -np.inf
    where = -1
    for i in range(len(values)):
        if values[i] >= best:  # noqa: SIM102
            if where == -1 or values[i] > best:
                best = values[i]
                where = i
    if where < 0:
        return -1
    return where


@CASES.case(lambda n, g: (g.random((n, 4)), np.zeros((4, 4))))
def covariance_matrix(data, cov):
    n, m = data.shape
    mean = np.zeros(m)
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= max(n, 1)
    for j in range(m):
        for k in range(j, m):
            total = 0.0
            for i in range(n):
                total += (data[i, j] - mean[j]) * (data[i, k] - mean[k])
            cov[j, k] = cov[k, j] = total / max(n - 1, 1)


@CASES.case(lambda n, g: (g.random(n),))
def welford(values):
    count = 0
    mean = 0.0
    m2 = 0.0
    for value in values:
        count += 1
        delta = value - mean
        mean += delta / count
        m2 += delta * (value - mean)
    if count < 2:
        return mean, 0.0
    return mean, m2 / (count - 1)


@CASES.case(lambda n, g: (np.sort(g.random(n)),))
def gini(sorted_values):
    n = len(sorted_values)
    if n == 0:
        raise ValueError("no values")
    total = 0.0
    ranked = 0.0
    for i in range(n):
        total += sorted_values[i]
        ranked += (2 * (i + 1) - n - 1) * sorted_values[i]
    return ranked / (n * total)


@CASES.case(lambda n, g: (g.random(n), np.linspace(0, 1, 6), np.zeros(6)))
def kernel_density(samples, grid, out, bandwidth=0.25):
    scale = bandwidth * math.sqrt(2 * math.pi) * max(len(samples), 1)
    for k in range(len(grid)):
        total = 0.0
        for i in range(len(samples)):
            z = (grid[k] - samples[i]) / bandwidth
            total += math.exp(-0.5 * z * z)
        out[k] = total / scale


@CASES.case(lambda n, g: (g.integers(-4, 5, n), np.zeros(n, np.int64)))
def dense_ranks(values, ranks):
    n = len(values)
    for i in range(n):
        rank = 0
        for j in range(n):
            if values[j] < values[i] or (values[j] == values[i] and j < i):
                rank += 1
        ranks[i] = rank


@CASES.case(lambda n, g: (g.random((n, 3)), g.random((4, 3)), np.zeros(n, np.int64)))
def nearest_centre(points, centres, labels):
    inertia = 0.0
    for i in range(points.shape[0]):
        best = np.inf
        for c in range(centres.shape[0]):
            d = 0.0
            for k in range(points.shape[1]):
                diff = points[i][k] - centres[c][k]
                d += diff * diff
            if d < best:
                best = d
                labels[i] = c
        inertia += best
    return inertia
