"""Layers of neural networks, and dense linear algebra."""

from __future__ import annotations

import math

import numpy as np

from tests.realworld.case import Cases

CASES = Cases()

EPSILON = np.float32(1e-5)


def single(g, *shape):
    return g.standard_normal(shape).astype(np.float32)


@CASES.case(
    lambda n, g: (single(g, n, 5), single(g, 5, 3), single(g, 3), np.zeros((n, 3), np.float32))
)
def dense_relu(x, w, bias, out):
    for i in range(x.shape[0]):
        for j in range(w.shape[1]):
            acc = bias[j]
            for k in range(x.shape[1]):
                acc += x[i, k] * w[k, j]
            out[i, j] = acc if acc > 0 else 0.0


@CASES.case(
    lambda n, g: (single(g, n, 6), single(g, 6), single(g, 6), np.zeros((n, 6), np.float32))
)
def layer_norm(x, gamma, beta, out):
    rows, cols = x.shape
    for i in range(rows):
        mean = 0.0
        for j in range(cols):
            mean += x[i, j]
        mean /= cols
        var = 0.0
        for j in range(cols):
            var += (x[i, j] - mean) ** 2
        scale = 1.0 / math.sqrt(var / cols + EPSILON)
        for j in range(cols):
            out[i, j] = (x[i, j] - mean) * scale * gamma[j] + beta[j]


def _normalise(row, count):
    total = 0.0
    for j in range(count):
        total += row[j]
    for j in range(count):
        row[j] /= total


@CASES.case(lambda n, g: (g.random((n, 5)),))
def softmax_in_place(logits):
    n, m = logits.shape
    for i in range(n):
        top = logits[i, 0]
        for j in range(1, m):
            top = max(top, logits[i, j])
        for j in range(m):
            logits[i, j] = math.exp(logits[i, j] - top)
        _normalise(logits[i], m)


@CASES.case(
    lambda n, g: (
        single(g, 2, n + 2, n + 2),
        single(g, 3, 2, 3, 3),
        np.zeros((3, n, n), np.float32),
    )
)
def conv_layer(x, w, out):
    for o in range(out.shape[0]):
        for y in range(out.shape[1]):
            for z in range(out.shape[2]):
                out[o, y, z] = 0.0
                for c in range(x.shape[0]):
                    for i in range(3):
                        for j in range(3):
                            out[o, y, z] += x[c, y + i, z + j] * w[o, c, i, j]


@CASES.case(lambda n, g: (single(g, 2, 2 * n, 2 * n), np.zeros((2, n, n), np.float32)))
def max_pool(x, out):
    for c in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                best = x[c, 2 * i, 2 * j]
                for di in range(2):
                    for dj in range(2):
                        if x[c, 2 * i + di, 2 * j + dj] > best:
                            best = x[c, 2 * i + di, 2 * j + dj]
                out[c, i, j] = best


@CASES.case(lambda n, g: (g.integers(0, 4, n), single(g, 4, 3), np.zeros((n, 3), np.float32)))
def embedding(tokens, table, out):
    for i, token in enumerate(tokens):
        out[i, :] = table[token, :]


def _positive(n, g):
    m = g.random((n, n))
    return m @ m.T + n * np.eye(n)


@CASES.case(lambda n, g: (_positive(n, g),))
def cholesky(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = math.sqrt(A[i, i])


@CASES.case(lambda n, g: (_positive(n, g), np.zeros((n, n)), np.zeros((n, n))))
def gram_schmidt(A, Q, R):
    n = A.shape[1]
    for k in range(n):
        nrm = 0.0
        for i in range(A.shape[0]):
            nrm += A[i, k] * A[i, k]
        R[k, k] = math.sqrt(nrm)
        for i in range(A.shape[0]):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = 0.0
            for i in range(A.shape[0]):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(A.shape[0]):
                A[i, j] -= Q[i, k] * R[k, j]


@CASES.case(lambda n, g: (g.random((n, 3)), g.random((3, n + 1)), 1.5, np.ones((n, n + 1)), 0.5))
def scaled_product(A, B, alpha, C, beta):
    for i in range(C.shape[0]):
        C[i, :] *= beta
        for k in range(A.shape[1]):
            C[i, :] += alpha * A[i, k] * B[k, :]


@CASES.case(lambda n, g: (single(g, n), single(g, n), single(g, n), np.zeros(n, np.float32), 3))
def adam_step(weights, gradients, first, second, step, rate=1e-3):
    correct1 = 1.0 - 0.9**step
    correct2 = 1.0 - 0.999**step
    for i in range(weights.shape[0]):
        grad = gradients[i]
        first[i] = 0.9 * first[i] + 0.1 * grad
        second[i] = 0.999 * second[i] + 0.001 * grad * grad
        weights[i] -= rate * (first[i] / correct1) / (math.sqrt(second[i] / correct2) + 1e-8)


@CASES.case(lambda n, g: (g.random((n, n)) + n * np.eye(n), g.random(n), np.zeros(n), 4))
def jacobi_solve(A, b, x, sweeps):
    n = len(b)
    new = np.zeros_like(x)
    for sweep in range(sweeps):
        for i in range(n):
            total = b[i]
            for j in range(n):
                if j != i:
                    total -= A[i, j] * x[j]
            new[i] = total / A[i, i]
        x[:] = new
