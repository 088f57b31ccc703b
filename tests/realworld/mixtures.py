"""Loops that hold whole rows: reductions, row assignments, typed accumulators, empty inputs."""

from __future__ import annotations

import math

import numpy as np

from tests.realworld.case import Cases

CASES = Cases()

WEIGHTS = 0.7


@CASES.case(lambda n, g: (g.random((n, 6)).astype(np.float32), np.float32(0.25)))
def typed_total(x, bias):
    total = np.float32(0)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += x[i, j] * bias
    return total


@CASES.case(lambda n, g: (g.random((n, 4)), np.zeros((n, 4)), g.integers(0, max(n, 1), n)))
def gather_rows(x, out, order):
    for i in range(out.shape[0]):
        out[i] = x[order[i]]


@CASES.case(lambda n, g: (g.random((n, 4)), np.zeros((n, 4)), 0.5))
def copy_some_rows(x, out, limit):
    kept = 0
    for i in range(x.shape[0]):
        if x[i, 0] > limit:
            out[kept, :] = x[i, :]
            kept += 1
    return kept


@CASES.case(lambda n, g: (g.random((n, 5)), g.random((3, 5)), np.zeros((n, 3))))
def cosine_similarity(x, centres, out):
    for i in range(x.shape[0]):
        size = math.sqrt(np.dot(x[i], x[i]))
        for k in range(centres.shape[0]):
            other = np.sqrt(np.sum(centres[k, :] ** 2))
            out[i, k] = np.dot(x[i, :], centres[k, :]) / (size * other)


@CASES.case(lambda n, g: (g.standard_normal((n, 7)), np.zeros(n), np.zeros(n, np.bool_)))
def row_flags(x, spread, outlier):
    for i in range(x.shape[0]):
        spread[i] = x[i].max() - x[i].min()
        outlier[i] = np.any(np.abs(x[i, 1:]) > 1.5)


@CASES.case(lambda n, g: (g.random((n, 6)), np.zeros((n, 6))))
def log_softmax(x, out):
    for i in range(x.shape[0]):
        top = np.max(x[i, :])
        shifted = np.log(np.sum(np.exp(x[i, :] - top))) + top
        out[i, :] = x[i, :] - shifted


@CASES.case(lambda n, g: (g.random(4), g.standard_normal((n, 4)), g.integers(0, 2, n), 0.1))
def perceptron(w, x, label, rate):
    wrong = 0
    for i in range(x.shape[0]):
        guess = 1 if np.dot(w, x[i, :]) > 0.0 else 0
        if guess != label[i]:
            w += rate * (label[i] - guess) * x[i, :]
            wrong += 1
    return wrong


@CASES.case(lambda n, g: (g.random((n, n + 1)), g.random(n + 1), np.zeros(n)))
def weighted_rows(A, w, out):
    for i in range(len(out)):
        out[i] = np.mean(A[i, :] * w[:]) - WEIGHTS * A[i].sum() / A.shape[1]


@CASES.case(lambda n, g: (g.integers(0, 5, (n, 3)), np.zeros(5, np.int64), np.zeros(n)))
def class_counts(labels, counts, share):
    for i in range(labels.shape[0]):
        for j in range(labels.shape[1]):
            counts[labels[i, j]] += 1
        share[i] = np.sum(labels[i, :] == 2) / labels.shape[1]


@CASES.case(lambda n, g: (g.random((n, n)), np.zeros((n, n))))
def lower_products(L, out):
    for i in range(L.shape[0]):
        for j in range(i + 1):
            out[i, j] = np.dot(L[i, : j + 1], L[j, : j + 1])
            out[j, i] = out[i, j]


@CASES.case(lambda n, g: (g.random(n), max(n // 3, 1)))
def windows(x, width):
    n = x.shape[0]
    if n < width:
        return np.zeros(0)
    out = np.empty(n - width + 1)
    for i in range(n - width + 1):
        low = high = x[i]
        for k in range(1, width):
            low = min(low, x[i + k])
            high = max(high, x[i + k])
        out[i] = high - low
    return out


@CASES.case(lambda n, g: (g.random((n, n)), 3))
def power_iteration(A, rounds):
    n = A.shape[0]
    v = np.ones(n)
    value = 0.0
    for _ in range(rounds):
        w = np.zeros(n)
        for i in range(n):
            for j in range(n):
                w[i] += A[i, j] * v[j]
        value = np.sqrt(np.dot(w, w))
        if value > 0.0:
            for i in range(n):
                v[i] = w[i] / value
    return value, v


@CASES.case(lambda n, g: (g.random((n, 3)), g.random(n) + 0.5, np.zeros((n, 3))))
def gravity(position, mass, force):
    n = len(mass)
    for i in range(n):
        fx = fy = fz = 0.0
        for j in range(n):
            if i == j:
                continue
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            dz = position[j, 2] - position[i, 2]
            inverse = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz + 1e-3)
            scale = mass[i] * mass[j] * inverse**3
            fx, fy, fz = fx + scale * dx, fy + scale * dy, fz + scale * dz
        force[i] = fx, fy, fz


@CASES.case(
    lambda n, g: (
        np.arange(n + 1) * 0,
        np.zeros(0, np.int64),
        np.zeros(0),
        g.random(n),
        np.ones(n),
    )
)
def empty_csr(indptr, indices, data, x, y):
    for i in range(len(y)):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * x[indices[k]]
        y[i] = total


@CASES.case(lambda n, g: (np.zeros((n, 0)), np.ones(n), np.ones((0, n))))
def no_columns(A, out, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[i] += A[i, j]
        out[i] *= 2.0
    for j in range(B.shape[0]):
        for i in range(B.shape[1]):
            out[i] += B[j, i]


@CASES.case(
    lambda n, g: (g.integers(0, 256, (n, n, 3)).astype(np.uint8), np.zeros((n, n), np.uint8))
)
def brightest_channel(image, out):
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            r, g, b = image[y, x, 0], image[y, x, 1], image[y, x, 2]
            best = r if r >= g and r >= b else g if g >= b else b
            out[y, x] = 255 - best


@CASES.case(lambda n, g: (g.random((n, n)).astype(np.float32), np.zeros((n, n), np.float32)))
def unsharp_rows(image, out):
    h, w = image.shape
    blurred = np.empty((h, w), np.float32)
    for y in range(h):
        for x in range(w):
            left = image[y, x - 1] if x > 0 else image[y, x]
            right = image[y, x + 1] if x < w - 1 else image[y, x]
            blurred[y, x] = (left + 2 * image[y, x] + right) * 0.25
    for y in range(h):
        for x in range(w):
            sharp = image[y, x] + 0.5 * (image[y, x] - blurred[y, x])
            out[y, x] = min(max(sharp, 0), 1)


def _moments(values, start, stop):
    total = 0.0
    squares = 0.0
    for k in range(start, stop):
        total += values[k]
        squares += values[k] * values[k]
    return total, squares


@CASES.case(lambda n, g: (g.random(n), np.zeros((n, 2)), 3))
def local_moments(values, out, radius):
    n = len(values)
    for i in range(n):
        start, stop = max(i - radius, 0), min(i + radius + 1, n)
        total, squares = _moments(values, start, stop)
        out[i, 0] = total / (stop - start)
        out[i, 1] = squares / (stop - start) - out[i, 0] ** 2


@CASES.case(lambda n, g: (g.random(n), np.zeros(n), np.zeros(n)))
def two_outputs(x, up, down):
    for i, value in enumerate(x):
        if value > 0.5:
            up[i] += value
        elif value > 0.25:
            down[i] -= value
        else:
            up[i] = down[i] = value / 2


@CASES.case(lambda n, g: (g.integers(1, 50, n), g.integers(1, 50, n), np.zeros(n, np.int64)))
def common_divisors(a, b, out):
    for i in range(len(a)):
        p, q = a[i], b[i]
        while q:
            p, q = q, p % q
        out[i] = p


@CASES.case(lambda n, g: (g.random((n, 8)), np.zeros((n, 8), np.complex128)))
def twiddle(x, out):
    m = x.shape[1]
    for i in range(x.shape[0]):
        for k in range(m):
            acc = 0j
            for j in range(m):
                angle = -2.0 * math.pi * j * k / m
                acc += x[i, j] * complex(math.cos(angle), math.sin(angle))
            out[i, k] = acc


@CASES.case(lambda n, g: (g.random((n, n)), g.random((n, n)), np.zeros((n, n))))
def rows_and_columns(A, B, C):
    for i in range(A.shape[0]):
        C[i, :] = A[i, :] * 2.0
        C[:, i] += B[i, :]
        C[i, i] = 0.0


@CASES.case(lambda n, g: (g.standard_normal((n, 4)), np.zeros(4), np.zeros(4)))
def standardise(x, mean, scale):
    n, m = x.shape
    for j in range(m):
        mean[j] = np.sum(x[:, j]) / max(n, 1)
        scale[j] = np.sqrt(np.sum((x[:, j] - mean[j]) ** 2) / max(n - 1, 1))
    for i in range(n):
        for j in range(m):
            if scale[j] > 0:
                x[i, j] = (x[i, j] - mean[j]) / scale[j]


@CASES.case(lambda n, g: (g.random(n), 4))
def bins(x, count):
    edges = np.linspace(0.0, 1.0, count + 1)
    out = np.zeros(count, np.int64)
    for i in range(len(x)):
        for b in range(count):
            if edges[b] <= x[i] and (x[i] < edges[b + 1] or b == count - 1):
                out[b] += 1
                break
    return out


@CASES.case(lambda n, g: (g.random((2, n, n)), 2))
def ping_pong(u, steps):
    n = u.shape[1]
    for t in range(steps):
        now, then = t % 2, (t + 1) % 2
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                u[then, i, j] = 0.25 * (
                    u[now, i - 1, j] + u[now, i + 1, j] + u[now, i, j - 1] + u[now, i, j + 1]
                )


@CASES.case(lambda n, g: (g.random((n, 3)), g.random(3), True))
def flagged(x, shift, wrap=False):
    largest = -np.inf
    for i in range(x.shape[0]):
        for j in range(3):
            value = x[i, j] + shift[j]
            if wrap and value > 1.0:
                value -= 1.0
            x[i, j] = value
            largest = max(largest, value)
    return largest
