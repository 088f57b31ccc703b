"""Dynamic programming, alignment and search over sequences."""

from __future__ import annotations

import numpy as np

from tests.realworld.case import Cases

CASES = Cases()

MATCH, MISMATCH, GAP = 2, -1, -1


def letters(n, g):
    return g.integers(0, 4, n)


@CASES.case(lambda n, g: (letters(n, g), letters(n + 2, g)))
def edit_distance(a, b):
    n, m = len(a), len(b)
    table = np.zeros((n + 1, m + 1), np.int64)
    for i in range(n + 1):
        table[i, 0] = i
    for j in range(m + 1):
        table[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
    return table[-1, -1]


def _score(one, other):
    return MATCH if one == other else MISMATCH


@CASES.case(lambda n, g: (letters(n, g), letters(n + 1, g), np.ones((n + 1, n + 2), np.int32)))
def local_alignment(a, b, table):
    best = 0
    table[:, 0] = 0
    table[0, :] = 0
    for i in range(1, table.shape[0]):
        for j in range(1, table.shape[1]):
            value = table[i - 1, j - 1] + _score(a[i - 1], b[j - 1])
            value = max(value, table[i - 1, j] + GAP)
            value = max(value, table[i, j - 1] + GAP)
            value = max(value, 0)
            table[i, j] = value
            if value > best:
                best = value
    return best


@CASES.case(lambda n, g: (g.random((n, n + 1)), np.zeros((n, n + 1))), sizes=(1, 2, 5, 9))
def time_warping(cost, total):
    n, m = cost.shape
    total[0, 0] = cost[0, 0]
    for i in range(1, n):
        total[i, 0] = total[i - 1, 0] + cost[i, 0]
    for j in range(1, m):
        total[0, j] = total[0, j - 1] + cost[0, j]
    for i in range(1, n):
        for j in range(1, m):
            total[i, j] = cost[i, j] + min(total[i - 1, j], total[i, j - 1], total[i - 1, j - 1])
    i, j = n - 1, m - 1
    length = 1
    while i > 0 or j > 0:
        if i == 0:
            j -= 1
        elif j == 0:
            i -= 1
        else:
            a, b, c = total[i - 1, j - 1], total[i - 1, j], total[i, j - 1]
            if a <= b and a <= c:
                i, j = i - 1, j - 1
            elif b <= c:
                i -= 1
            else:
                j -= 1
        length += 1
    return length


@CASES.case(lambda n, g: (np.log(g.random((3, 3))), np.log(g.random((n, 3))), np.log(g.random(3))))
def viterbi(transition, emission, start):
    T, S = emission.shape
    value = np.zeros((T, S))
    pointer = np.zeros((T, S), np.int64)
    states = np.zeros(T, np.int64)
    if T == 0:
        return states
    for s in range(S):
        value[0, s] = start[s] + emission[0, s]
    for t in range(1, T):
        for s in range(S):
            best = -np.inf
            for r in range(S):
                candidate = value[t - 1, r] + transition[r, s]
                if candidate > best:
                    best = candidate
                    pointer[t, s] = r
            value[t, s] = best + emission[t, s]
    last = 0
    for s in range(S):
        if value[-1, s] > value[-1, last]:
            last = s
    states[-1] = last
    for t in range(T - 2, -1, -1):
        states[t] = pointer[t + 1, states[t + 1]]
    return states


@CASES.case(lambda n, g: (g.integers(1, 6, n), g.integers(1, 9, n), 12))
def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, np.int64)
    for item in range(len(weights)):
        for room in range(capacity, weights[item] - 1, -1):
            candidate = best[room - weights[item]] + values[item]
            if candidate > best[room]:
                best[room] = candidate
    return best[capacity]


@CASES.case(lambda n, g: (letters(n, g), np.zeros((n, n), np.int64)))
def fold_pairs(seq, table):
    n = len(seq)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
                if i < j - 1:
                    table[i, j] = max(
                        table[i, j], table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 else 0)
                    )
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


@CASES.case(lambda n, g: (np.sort(g.random(n)), g.random(4), np.zeros(4, np.int64)))
def search_sorted(edges, values, out):
    for i in range(len(values)):
        low = 0
        high = len(edges)
        while low < high:
            middle = (low + high) // 2
            if edges[middle] < values[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


@CASES.case(lambda n, g: (g.integers(0, 50, n),))
def insertion_sort(values):
    for i in range(1, len(values)):
        item = values[i]
        j = i - 1
        while j >= 0 and values[j] > item:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = item


@CASES.case(lambda n, g: (g.integers(0, 50, n),))
def bubble_sort(values):
    n = len(values)
    for end in range(n, 1, -1):
        swapped = False
        for i in range(end - 1):
            if values[i] > values[i + 1]:
                values[i], values[i + 1] = values[i + 1], values[i]
                swapped = True
        if not swapped:
            break


@CASES.case(lambda n, g: (g.integers(0, 256, n).astype(np.uint8),))
def crc16(data, poly=0x8408):
    crc = 0xFFFF
    for b in data:
        current = 0xFF & int(b)
        for _ in range(8):
            if (crc & 0x0001) ^ (current & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            current >>= 1
    crc = ~crc & 0xFFFF
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF
