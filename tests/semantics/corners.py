"""Small functions, one for each corner in which Python, NumPy and numba may differ."""

from __future__ import annotations

import math

import numpy as np

WORD = 2**64


def quotients(a, b, q, r):
    for i in range(len(a)):
        q[i] = a[i] // b[i]
        r[i] = a[i] % b[i]


def shares(a, b, out):
    for i in range(len(a)):
        out[i] = a[i] / b[i]


def shares_of_argument(n, out):
    for i in range(len(out)):
        out[i] = i / n


def remainders_by_argument(n, out):
    for i in range(len(out)):
        out[i] = (i - 3) % n + (i - 3) // n


def arithmetic(a, b, more, less, product):
    for i in range(len(a)):
        more[i] = a[i] + b[i]
        less[i] = a[i] - b[i]
        product[i] = a[i] * b[i]


def sums(a, b, out):
    for i in range(len(a)):
        out[i] = a[i] + b[i]


def differences(a, b, out):
    for i in range(len(a)):
        out[i] = a[i] - b[i]


def negatives(a, out):
    for i in range(len(a)):
        out[i] = -a[i]


def complements(a, out):
    for i in range(len(a)):
        out[i] = ~a[i]


def converted(a, out):
    for i in range(len(a)):
        out[i] = int(a[i]) - float(a[i]) * float(a[i])


def squares_of_argument(n, out):
    for i in range(len(out)):
        out[i] = n * n + i


def beyond_64_bits(x, low, out):
    for i in range(len(x)):
        out[i] = x[i] / 2**64 + x[i] * (2**66 // 2**64)
        x[i] *= 1 << 64
        low[i] = low[i] & (2**64 - 1)


def beyond_64_bits_by_name(x, low, out):
    for i in range(len(x)):
        out[i] = x[i] / WORD + x[i] * (4 * WORD // WORD) - WORD
        x[i] *= -WORD
        low[i] = low[i] & (WORD - 1)


def with_a_number_beyond_64_bits(a, out):
    for i in range(len(a)):
        out[i] = a[i] + 2**64


def far_apart(out):
    for i in range(0, 12884901882, 2147483647):
        out[i // 2147483647] = i * 3 + 1


def powers(a, out):
    for i in range(len(a)):
        out[i] = a[i] ** 2 + a[i] ** 3


def powers_by_argument(a, k, out):
    for i in range(len(a)):
        out[i] = a[i] ** k


def scaled(a, out):
    for i in range(len(a)):
        out[i] = a[i] * 0.1 + 0.7


def roots(a, out):
    for i in range(len(a)):
        out[i] = np.sqrt(a[i]) * 0.1


def scaled_by_argument(a, factor, out):
    for i in range(len(a)):
        out[i] = a[i] * factor


def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s


def whole_total(a, out):
    s = 0
    for i in range(len(a)):
        s += a[i]
    out[0] = s


def totals(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[0] += a[i, j]


def last_large(a, out):
    s = -1
    for i in range(len(a)):
        if a[i] > 3:
            s = a[i]
    out[0] = s


def replaced(a, n, out):
    for i in range(len(a)):
        s = n
        if a[i] > 3:
            s = a[i]
        out[i] = s


def replaced_and_doubled(a, n, out):
    for i in range(len(a)):
        s = n
        if a[i] > 3:
            s = a[i]
        out[i] = s + s


def first_large(a):
    for i in range(len(a)):
        if a[i] > 3:
            return a[i]
    return -1


def several_results(a):
    s = 0.0
    n = 0
    for i in range(len(a)):
        s += a[i]
        n += 1
    return s, n, a[0] > 0


def extremes(a, b, low, high):
    for i in range(len(a)):
        low[i] = min(a[i], b[i])
        high[i] = max(a[i], b[i])


def largest(a, out):
    m = a[0]
    for i in range(len(a)):
        m = max(m, a[i])
    out[0] = m


def last_of_loop(a, out):
    for i in range(len(a)):
        out[i] = a[i]
    out[0] = i


def changed_in_body(a, out):
    n = 0
    for i in range(len(a)):
        i = i * 2
        n += i
    out[0] = n


def left_early(a, out):
    for i in range(len(a)):
        if a[i] < 0:
            break
        if a[i] == 3:
            continue
        out[i] = a[i]


def returns_early(a, out):
    for i in range(len(a)):
        if a[i] < 0:
            return i
        out[i] = a[i]
    return -1


def in_place(a):
    for i in range(1, len(a)):
        a[i] = a[i] + a[i - 1]


def unwritten(out):
    t = np.empty(4, np.float64)
    t[0] = 1.0
    for i in range(4):
        out[i] = t[i]


def neighbours(a, out):
    for i in range(len(a)):
        out[i] = a[i] - a[i - 1]
    out[-1] += 100


def beyond_end(a, out):
    for i in range(len(a)):
        out[i] = a[i + 1]


def shifted_copy(a, out):
    for i in range(1, len(a)):
        out[i] = a[i - 1] + a[i]


def guarded_index(a, idx, out):
    for i in range(len(out)):
        if idx[i] < len(a) and a[idx[i]] > 0:
            out[i] = a[idx[i]]


def checked_first(a, out, limit):
    for i in range(len(a)):
        out[i] = a[i]
        if a[i] > limit:
            raise ValueError("too large")


def marked(a, out):
    for i in range(len(a)):
        out[0] = 7


def last_mark(a, out):
    for i in range(len(a)):
        out[0] = a[i]


def summed_lists(data, starts, y):
    for i in range(len(y)):
        for p in range(starts[i], starts[i + 1]):
            y[i] += data[p]


def gathered(a, idx, out):
    for i in range(len(idx)):
        out[i] = a[idx[i]]


def gathered_and_doubled(a, idx, out, more):
    for i in range(len(idx)):
        out[i] = a[idx[i]]
    for i in range(len(idx)):
        more[i] = 2.0 * a[i]


def scattered(a, idx, out):
    for i in range(len(idx)):
        out[idx[i]] = a[i]


def counted(a, idx, out):
    for i in range(len(idx)):
        out[idx[i]] += a[i]


def moved(a, k, out):
    for i in range(len(a)):
        out[i] = a[i] + k


def filled(a, k, out):
    for i in range(len(a)):
        out[i] = k


def logarithms(a, out):
    for i in range(len(a)):
        out[i] = math.log(a[i])


def exponentials(a, out):
    for i in range(len(a)):
        out[i] = math.exp(a[i])


def roots_by_math(a, out):
    for i in range(len(a)):
        out[i] = math.sqrt(a[i])


def extreme_cells(a, out):
    out[0] = max(a) - min(a)


def mean_of_counted(a, out):
    total = 0.0
    count = 0
    for i in range(len(a)):
        total += a[i]
        count += 1
    out[0] = total / count


def stored(a, out):
    for i in range(len(a)):
        out[i] = a[i]


def counted_down(a, out):
    for i in range(len(a)):
        out[0] -= a[i]


def wrapped(a, small, half, whole, large, wide):
    for i in range(len(a)):
        small[i] = a[i]
        half[i] = np.int16(a[i])
        whole[i] = a[i]
        large[i] = a[i]
        wide[i] = np.uint16(a[i] * 3.0)


def least_by_condition(a, out):
    for i in range(len(a)):
        if a[i] < out[0]:
            out[0] = a[i]


def truncated(a, out):
    for i in range(len(a)):
        out[i] = int(a[i])


def shifted(a, b, left, right):
    for i in range(len(a)):
        left[i] = a[i] << b[i]
        right[i] = a[i] >> b[i]


def comparisons(a, b, out):
    for i in range(len(a)):
        out[i] = (a[i] > 0) + (b[i] > 0)


def stepped(a, step, out):
    for i in range(0, len(a), step):
        out[i] = a[i]


def scaled_by_reciprocal(a, factor, out):
    for i in range(len(a)):
        out[i] = a[i] / factor


def sums_of_rows(x, out):
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            out[i] += x[i, k]


def written_in_part(a, m, out):
    t = np.empty(len(out))
    for i in range(m):
        t[i] = a[i]
    for i in range(len(out)):
        out[i] = t[i]


def filled_and_divided(n, k, out, more):
    for i in range(n):
        out[i] = 1.0
    for i in range(n):
        more[i] = i / k


def shares_of_count(a, out):
    n = 0
    for i in range(len(a)):
        if a[i] > 0:
            n += 1
    out[0] = 1 / n


def parts_of_count(a, out):
    n = 0
    for i in range(len(a)):
        if a[i] > 0:
            n += 1
    out[0] = 7 // n


def beside_300(a, out):
    for i in range(len(a)):
        out[i] = a[i] + 300


def beside_minus_one(a, out):
    k = -1
    for i in range(len(a)):
        out[i] = np.maximum(a[i], k)


def cast_300(a, out):
    for i in range(len(a)):
        out[i] = a[i] + np.uint8(300)


def store_300(a, out):
    for i in range(len(a)):
        a[i] = 300


def fill_300(a, out):
    b = np.full(3, 300, np.uint8)
    for i in range(3):
        out[i] = b[i]


def chosen(x, a, out):
    for i in range(len(x)):
        out[i, 0] = np.where(x[i] > 0, x[i], 0.1)
        out[i, 1] = np.where(x[i] > 0, x[i], 0.1) * 3
        out[i, 2] = np.where(x[i] > 0, a[i], 100) + 100
        out[i, 3] = np.where(a[i] > 0, 1, a[i]) * 100
        out[i, 4] = np.where(a[i] > 0, np.where(x[i] > 0, x[i], 0.3), 0.1)


def chosen_array(x, a, out):
    t = np.where(x > 0, x, 0.1)
    for i in range(len(x)):
        out[i, 0] = t[i] * 0.3


def chosen_by_data(x, a, out):
    for i in range(len(x)):
        m = 3
        if x[i] < 0:
            m = a[i]
        out[i, 0] = np.where(x[i] > 1, m, 1) * 100


def chosen_300(x, a, out):
    for i in range(len(x)):
        out[i, 0] = np.where(x[i] > 0, a[i], 300)


def functions_of_narrow_numbers(x, a, out):
    for i in range(len(x)):
        out[i, 0] = np.round(x[i], 1)
        out[i, 1] = np.real(x[i]) * 0.1
        out[i, 2] = np.power(a[i], 2) * 0.1
        out[i, 3] = np.add(a[i], 100) + np.left_shift(a[i], 1)


def sign_of_truth_value(x, a, out):
    for i in range(len(x)):
        out[i] = np.sign(x[i] > 0)


def powers_and_remainders_by_call(x, a, out):
    for i in range(len(x)):
        out[i, 0] = pow(x[i], 2) * 0.1
        out[i, 1] = pow(a[i], 2)
        out[i, 2] = divmod(x[i], 0.3)[1] + sum((x[i], 0.1))
        q, r = divmod(a[i], 7)
        out[i, 3] = q * 100 + r


def numbers_spelled_as_strings(x, a, out):
    low, high = float("inf"), -float("inf")
    for i in range(len(x)):
        low = min(low, x[i])
        high = max(high, x[i])
        out[i, 0] = float("nan") if a[i] == ord("a") else low
        out[i, 1] = a[i] - (ord("a") - ord("A")) if a[i] >= ord("a") else high
        out[i, 2] = x[i] * float("1e-3")


def counted_as_often(flags, out):
    for i in range(out.shape[0]):
        for _ in range(flags[i]):
            out[i] += 1


def gathered_below(x, k, out):
    for i in range(out.shape[0]):
        out[i] = x[k[i] - 1]


def doubled_rows(rows, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = i + j + 1
        for j in range(out.shape[1]):
            out[rows[i], j] *= 2


def clipped_between(a, low, high, out):
    for i in range(a.shape[0]):
        out[i, 0] = np.clip(a[i, 0], low, high)
        out[i, 1:] = np.clip(a[i, 1:], low, high)


def chosen_and_clipped(x, a, out):
    low = x[0]
    for i in range(len(x)):
        low = np.where(x[i] < low, x[i], low)
        out[i, 0] = max(low, np.where(x[i] > 0, a[i], x[i]))
        out[i, 1] = np.clip(x[i] * 2, -0.0, 1) + np.clip(a[i], -5, 90) * 2
        out[i, 2] = np.clip(low, x[i], np.nan) if x[i] > 2 else np.where(x[i], low, 0.1) * 0.1
        for k in range(np.where(x[i] > 0, 2, 1)):
            out[i, 3] += k


def chosen_and_returned(x, a, out):
    return np.where(x[0] > 0, x[0], x[1])


def chosen_and_changed(x, a, out):
    t = np.where(x[0] > 0, a[0], a[1])
    u = max(t, a[1])
    t += a[2]
    out[0, 0] = u


def chosen_and_widened(x, a, out):
    t = np.where(x[0] > 0, x[0], x[1])
    t += np.float64(0.1)
    out[0, 0] = t


def divided_by_call(x, a, out):
    for i in range(len(x)):
        out[i, 0] = np.fmod(a[i], 7) + np.fmod(a[i], -3) * 0.5
        out[i, 1] = np.fmod(a[i], a[i] * 0)
        out[i, 2] = np.remainder(x[i] * 0, -3.0) + np.fmod(x[i], 0.5)
        out[i, 3] = np.true_divide(a[i], a[i] + 40) + np.divide(a[i], 3)


def remainders_of_rows(x, a, out):
    t = np.fmod(a, a - 50)
    for i in range(len(x)):
        out[i, 0] = t[i]


def compared_with_signed(a, k, n, out):
    for i in range(len(a)):
        for j in range(len(k)):
            out[i, j] = (a[i] < k[j]) * 1 + (a[i] <= k[j]) * 2 + (a[i] > k[j]) * 4
            out[i, j] += (a[i] >= k[j]) * 8 + (a[i] == k[j]) * 16 + (a[i] != k[j]) * 32
            out[i, j] += (k[j] < a[i]) * 64 + (k[j] <= a[i]) * 128 + (k[j] > a[i]) * 256
            out[i, j] += (k[j] >= a[i]) * 512 + (k[j] == a[i]) * 1024 + (k[j] != a[i]) * 2048
            if a[i] > n - 1 or a[i] == 9007199254740992 or 3 < a[i] < 9007199254740993:
                out[i, j] += 4096 + (a[i] > -1)


def whole_numbers_rounded(a, out):
    for i in range(len(a)):
        out[i, 0] = round(a[i]) + np.round(a[i]) + round(a[i], 0)
        out[i, 1] = np.around(a[i], 2) + np.power(a[i], 2)


def compared_by_call(a, out):
    for i in range(len(a)):
        out[i, 0] = np.greater(a[i], 300) + np.less(a[i], i - 1) * 2
        out[i, 1] = np.equal(a[i], 506) + np.not_equal(-6, a[i]) * 2
        out[i, 2] = np.less_equal(a[i], -1) + np.greater_equal(a[i], 0.1) * 2


def half_of_all(x):
    for i in range(len(x) / 2):
        x[i] = 1.0


def every_second(x):
    for i in range(0, len(x), 2.0):
        x[i] = 1.0


def as_many_as_a_cell_says(x):
    n = x[3]
    for i in range(n):
        x[i] = 1.0


def first_half(x):
    x[: len(x) / 2] = 1.0


def cell_in_the_middle(x):
    k = len(x) / 2
    x[k] = 1.0


def shifted_by_argument(n, out):
    k = 1 << n
    for i in range(len(out)):
        out[i] = k


def powers_of_nothing(n, out):
    k = 0.0**n
    for i in range(len(out)):
        out[i] = k


def whole_numbers(x, cut, near, low):
    for i in range(len(x)):
        cut[i] = int(x[i])
        near[i] = round(float(x[i]))
        low[i] = math.floor(x[i])
