"""Habits of people who write loops: helpers that write, early exits, shadowed names, slices."""

from __future__ import annotations

import numpy as np

from tests.realworld.case import Cases

CASES = Cases()

LIMITS = (0.25, 0.75)
WIDTH = 3


def _swap_rows(A, one, other):
    if one == other:
        return False
    for j in range(A.shape[1]):
        A[one, j], A[other, j] = A[other, j], A[one, j]
    return True


@CASES.case(lambda n, g: (g.random((n, 3)), g.integers(0, max(n, 1), n)))
def permute_rows(A, order):
    moved = 0
    for i in range(len(order)):
        if _swap_rows(A, i, order[i]):
            moved += 1
    return moved


def _clipped(value, low=0.0, high=1.0):
    if value < low:
        return low
    return high if value > high else value


@CASES.case(lambda n, g: (g.standard_normal((n, n)), np.zeros((n, n))))
def stretch(A, out, *, low=LIMITS[0], gain=2.0):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[i, j] = _clipped(gain * (A[i, j] - low), high=LIMITS[1])


@CASES.case(lambda n, g: (g.random((n, n)), 0.9))
def first_above(A, limit):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] > limit:
                return i, j
    return -1, -1


@CASES.case(lambda n, g: (g.random((n, n + 1)), np.zeros(n), np.zeros(n + 1)))
def row_and_column_sums(A, rows, cols):
    for i in range(A.shape[0]):
        rows[i] = 0.0
        for j in range(A.shape[1]):
            rows[i] += A[i, j]
    for j in range(A.shape[1]):
        total = 0.0
        for i in range(A.shape[0]):
            total += A[i, j]
        cols[j] = total


@CASES.case(lambda n, g: (g.random((n, n)),))
def symmetrise(A):
    for i in range(len(A)):
        for j in range(i + 1, len(A)):
            A[i, j], A[j, i] = A[j, i], A[i, j]
        for j in range(i):
            A[i][j] = A[j][i] = 0.5 * (A[i][j] + A[j][i])


@CASES.case(lambda n, g: (g.random((n + 2, n + 2)), g.random((n + 2, n + 2))))
def relax_slices(u, f):
    u[1:-1, 1:-1] += 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] - f[1:-1, 1:-1])
    u[0, :] = u[1, :]
    u[-1, :] = 0.0
    u[:, 0] = u[:, -1]
    for i in range(1, u.shape[0]):
        u[i, 1:] -= u[i - 1, :-1]


@CASES.case(lambda n, g: (g.random(n), np.zeros(n), -2))
def every_other(x, out, step):
    n = len(x)
    for i in range(n - 1, -1, -2):
        out[i] = x[i] - x[i - 1]
    for i in range(n - 1, 0, step):
        out[i] += 1.0
    out[::3] *= 2.0


@CASES.case(lambda n, g: (g.integers(-9, 9, n), g.integers(1, 5, n), np.zeros((n, 4), np.int64)))
def integer_corners(a, b, out):
    for i, (p, q) in enumerate(zip(a, b)):  # noqa: B905
        out[i, 0] = p // q
        out[i, 1] = p % q
        out[i, 2] = (p << 2) ^ (q & 3) | (~p & 1)
        out[i, 3] = p**2 - abs(p) * (p >> 1)


@CASES.case(lambda n, g: (g.random(n), g.random(n)))
def paired_extremes(x, y):
    low = high = 0.0
    where = -1
    for i in range(len(x)):
        a, b = (x[i], y[i]) if x[i] < y[i] else (y[i], x[i])
        if i == 0 or a < low:
            low = a
        if not i or b > high:
            high, where = b, i
    return low, high, where


@CASES.case(lambda n, g: (g.random((n, n)), np.zeros((n, n))))
def same_names_again(A, B):
    for i in range(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j]
            B[i, j] = s
    for i in range(A.shape[1]):
        s = 1.0
        for j in range(A.shape[0]):
            s *= 0.5 + A[j, i]
            B[j, i] += s
    for i in range(min(A.shape)):
        B[i, i] = -1.0


@CASES.case(lambda n, g: (g.integers(0, 9, (n, n)), np.zeros((n, n), np.int64)))
def skip_and_stop(A, out):
    found = 0
    for i in range(A.shape[0]):
        if A[i, 0] == 0:
            continue
        for j in range(A.shape[1]):
            if A[i, j] == 8:
                break
            if A[i, j] % 2:
                continue
            out[i, j] = A[i, j]
            found += 1
        else:
            out[i, 0] = -1
    return found


def _windowed():
    width = WIDTH
    scale = 1.0 / width

    @CASES.case(lambda n, g: (g.random(n), np.zeros(n)))
    def window_means(x, out):
        for i in range(len(x) - width + 1):
            total = 0.0
            for k in range(width):
                total += x[i + k]
            out[i] = total * scale
        for i in range(max(len(x) - width + 1, 0), len(x)):
            out[i] = np.nan

    return window_means


window_means = _windowed()


@CASES.case(lambda n, g: (g.random(n) + 1j * g.random(n), np.zeros(n, np.complex128)))
def rotate(z, out):
    turn = 1j
    for i in range(len(z)):
        out[i] = z[i] * turn + z[-1 - i].real
        turn *= -1j


@CASES.case(lambda n, g: (g.random((2, n)) > 0.5, np.zeros(n, np.bool_)))
def logic(flags, out):
    for i in range(flags.shape[1]):
        out[i] = flags[0, i] != flags[1, i] or (not flags[0, i] and i % 3 == 0)


@CASES.case(lambda n, g: (g.random(n),))
def checked_roots(values):
    out = np.empty(len(values))
    for i in range(len(values)):
        if values[i] < 0:
            raise ValueError("a negative value")
        guess = values[i]
        for _ in range(20):
            if guess == 0:
                break
            guess = 0.5 * (guess + values[i] / guess)
        out[i] = guess
    return out


@CASES.case(lambda n, g: (g.random((n, n)),))
def triangular_products(A):
    n = A.shape[0]
    total = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            acc = 0.0
            for k in range(i, j + 1):
                acc += A[i, k] * A[k, j]
            total[i, j] = acc
    return total, total[0, -1] if n else 0.0
