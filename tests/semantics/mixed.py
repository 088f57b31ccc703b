"""Small functions in which the data choose between types of floating-point numbers."""

from __future__ import annotations

import math

import numpy as np


def known_everywhere(d, s, out, narrow, tests):
    """Each type of a result is the same, whatever the data choose."""
    for i in range(len(s)):
        y = s[i] if d[i] > 0.5 else 0.1
        out[i, 0] = y * s[i] + y
        out[i, 1] = y * d[i]
        out[i, 2] = np.maximum(y, s[i])
        z = y
        z += s[i]
        out[i, 3] = z * 3.0
        out[i, 4] = min(s[i], 0.1)
        out[i, 5] = max(0.1, s[i])
        out[i, 6] = min(d[i], s[i])
        narrow[i] = min(max(s[i], 0.1), 0.7)
        tests[i, 0] = y > 0.5
        tests[i, 1] = y > s[i]
        tests[i, 2] = y == d[i]
        tests[i, 3] = min(d[i], s[i]) < s[i]


def names_used_again(d, s, out):
    """A name has one type at a time, and another one later."""
    a = 0.0
    for i in range(len(s)):
        a *= 0.9
        a += s[i]
        t = s[i] * 0.1
        out[i, 0] = t * 0.3
        t = d[i] * 0.1
        out[i, 1] = t * 0.3
    out[0, 2] = a * 0.1
    a = 0.0
    for i in range(len(d)):
        a += d[i]
    out[1, 2] = a * 0.1


def largest(s, out):
    m = -1e30
    for i in range(len(s)):
        if s[i] > m:
            m = s[i]
        out[i] = s[i] - m
    return m


def least_of_two_types(d, s, out):
    for i in range(len(s)):
        m = min(d[i], s[i])
        out[i] = m * s[i]


def literal_or_cell(d, s, out):
    for i in range(len(s)):
        y = s[i] if d[i] > 0.5 else 0.1
        out[i] = y * 3.0


def literal_at_first(d, s, out):
    for i in range(len(s)):
        y = 0.1
        if d[i] > 0.5:
            y = s[i]
        out[i] = y * 3.0


def wide_or_literal(d, s, out):
    for i in range(len(s)):
        y = d[i] if d[i] > 0.5 else 0.1
        out[i] = y * s[i]


def products_of_both(d, s, out):
    for i in range(len(s)):
        y = s[i] if d[i] > 0.5 else 0.1
        z = s[i] if d[i] > 0.2 else 0.2
        out[i] = y * z


def updated(d, s, out):
    for i in range(len(s)):
        m = min(d[i], s[i])
        m += s[i]
        out[i] = m


def roots(d, s, out):
    for i in range(len(s)):
        out[i] = np.sqrt(s[i] if d[i] > 0.5 else 0.1)


def compared(d, s, out):
    for i in range(len(s)):
        y = s[i] if d[i] > 0.5 else 0.1
        out[i] = y >= 0.1000000001


def limited(d, s, out):
    for i in range(len(s)):
        out[i] = min(max(s[i], 0.1), 0.7)


def bounded(d, s, out):
    for i in range(len(s)):
        out[i] = s[i] * (max(d[i], 3.0) - s[i])


def bounded_by_name(d, s, out):
    for i in range(len(s)):
        m = d[i] if d[i] > 3 else 3
        out[i] = s[i] * (m - s[i])


def bounded_integer(d, s, out):
    for i in range(len(s)):
        out[i] = s[i] * max(d[i], 3)


def _tripled(value):
    return value * 3.0


def _picked(value, other):
    if other > 0.5:
        return value
    return 0.1


def handed_over(d, s, out):
    for i in range(len(s)):
        out[i] = _tripled(s[i] if d[i] > 0.5 else 0.1)


def handed_back(d, s, out):
    for i in range(len(s)):
        out[i] = _picked(s[i], d[i]) * 3.0


def exact_literal(s, out):
    for i in range(len(s)):
        y = s[i] if s[i] > 1.0 else 0.5
        out[i] = y * 0.1


def exact_literal_beside_float32(s, out):
    for i in range(len(s)):
        y = s[i] if s[i] > 1.0 else 0.5
        out[i] = y * s[i] + 0.1


def integer_or_long(x, k, out):
    for i in range(len(x)):
        m = 3
        if k[i] > 5:
            m = k[i]
        out[i] = x[i] * m


def magnitudes(x, k, out):
    for i in range(len(x)):
        out[i] = np.abs(x[i] if k[i] > 5 else k[i])


def integer_or_long_kept(x, k, out):
    m = 3
    for i in range(len(x)):
        out[i] = x[i] * m
    for i in range(len(x)):
        m = k[i]
        out[i] += m


def scaled_sums(p, s, out):
    for i in range(len(out)):
        total = 0.0
        for j in range(p[i], p[i + 1]):
            total += s[j]
        out[i] = total * 0.1


def shifted_sums(p, s, out):
    for i in range(len(out)):
        total = 0.0
        for j in range(p[i], p[i + 1]):
            total += s[j]
        out[i] = total + 0.1


def shifted_sums_of_two(p, s, shift, out):
    for i in range(len(out)):
        total = 0.0
        for j in range(p[i], p[i + 1]):
            total += s[j]
        out[i] = shift - total


def cells_of_truth_values(x, counts):
    for i in range(len(x)):
        is_large = x[i] > 0
        counts[is_large] += 1


def whole_parts(x, out):
    for i in range(len(x)):
        out[i] = math.floor(x[i]) + (math.ceil(x[i]) & 3) * math.trunc(x[i])


def below(x, out):
    for i in range(len(x)):
        out[i] = math.floor(x[i])


def cells_of_flags(flags, table, out):
    for i in range(len(flags)):
        out[i] = table[int(flags[i])]


def largest_by_condition(k, out):
    m = -np.inf
    for i in range(len(k)):
        if k[i] > m:
            m = k[i]
    out[0] = m


def replaced_by_half(k, out):
    for i in range(len(k)):
        y = k[i]
        if k[i] > 5:
            y = 0.5
        out[i] = y * 0.1


def limited_by_argument(d, n, out):
    for i in range(len(d)):
        out[i] = min(d[i], n)


def largest_of_integers_and_reals(k, s, out):
    for i in range(len(s)):
        out[i] = max(k[i], s[i])


def integer_or_real(k, s, out):
    for i in range(len(s)):
        out[i] = (k[i] if s[i] > 1.0 else s[i]) * k[i]


def integer_or_real_by_name(k, s, out):
    for i in range(len(s)):
        y = s[i]
        if s[i] > 1.0:
            y = k[i]
        out[i] = y * k[i]


def rests_of_half(h, g, out):
    """What is left in 32 bits by a device that has no such instructions of 16 bits."""
    for i in range(len(h)):
        out[i, 0] = (h[i] % g[i]) * g[i]
        out[i, 1] = (h[i] // g[i]) * g[i] + h[i]
        out[i, 2] = (h[i] ** g[i]) * h[i]
        out[i, 3] = h[i] // 3 * g[i]


def rows_cut_off_at_zero(x, out):
    for i in range(out.shape[0]):
        out[i] = x[i]
        out[i][out[i] < 0] = 0
