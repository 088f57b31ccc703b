"""Names of windows, `w = A[i : i + 3]`: what is seen through, what stays, that values are kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile import Schedule, tile
from astile.ir import needs
from tests.support.plain_forms import as_given, grid, kernel, outcome, printed, read, shown

INSIDE = "for i in range(1, A.shape[0] - 1):\n"
BECOMES = {
    "cells": (
        INSIDE + "    w = A[i - 1 : i + 2]\n    B[i] = w[0] + w[1] + w[-1]",
        INSIDE + "    B[i] = A[i - 1] + A[i] + A[i + 1]",
    ),
    "a loop over its length": (
        INSIDE + "    w = A[i - 1 : i + 2]\n    for j in range(len(w)):\n        B[i] += w[j]",
        INSIDE + "    for j in range(3):\n        B[i] += A[i + j - 1]",
    ),
    "as a whole": (
        INSIDE + "    w = A[i - 1 : i + 2]\n    B[i] = w.argmax()",
        INSIDE + "    B[i] = A[i - 1 : i + 2].argmax()",
    ),
    "its inside": (
        "w = A[1:-1, 1:-1]\nfor i in range(w.shape[0]):\n    for j in range(w.shape[1]):\n"
        "        B[i, j] = w[i, j]",
        "for i in range(A.shape[0] - 2):\n    for j in range(A.shape[1] - 2):\n"
        "        B[i, j] = A[i + 1, j + 1]",
    ),
    "its lengths": (
        "w = A[1:-1, 2:]\nh, v = w.shape\nB[0] = h * v + w.shape[1]",
        "h = max(A.shape[0] - 2, 0)\nv = max(A.shape[1] - 2, 0)\n"
        "B[0] = h * v + max(A.shape[1] - 2, 0)",
    ),
    "a part of it": (
        INSIDE + "    w = A[i - 1 : i + 2]\n    B[i] = np.argmax(w[1:]) + np.argmin(w[:2])",
        INSIDE + "    B[i] = np.argmax(A[i : i + 2]) + np.argmin(A[i - 1 : i + 1])",
    ),
    "a row of it": (
        "for i in range(A.shape[0] - 2):\n    w = A[i : i + 3, 1:]\n    r = w[2]\n"
        "    B[i] = np.argmax(r)",
        "for i in range(A.shape[0] - 2):\n    B[i] = np.argmax(A[i + 2, 1:])",
    ),
    "what is written later": (
        INSIDE + "    w = A[i - 1 : i + 2]\n    A[i] = 7\n    B[i] = w[1]",
        INSIDE + "    A[i] = 7\n    B[i] = A[i]",
    ),
    "stored": (
        "for i in range(A.shape[0] // 4):\n    w = A[4 * i : 4 * i + 4]\n    w[3] = w[0]\n"
        "    w[1] -= 1",
        "for i in range(A.shape[0] // 4):\n    A[4 * i + 3] = A[4 * i]\n    A[4 * i + 1] -= 1",
    ),
    "of a length that is an argument": (
        "for i in range(len(A) - n + 1):\n    w = A[i : i + n]\n    for j in range(n):\n"
        "        B[i] += w[j]",
        "for i in range(len(A) - n + 1):\n    for j in range(n):\n        B[i] += A[i + j]",
    ),
    "cut at both ends": (
        "for i in range(len(A)):\n    lo = max(0, i - 2)\n    hi = min(len(A), i + 3)\n"
        "    w = A[lo:hi]\n    B[i] = w.max()",
        "for i in range(len(A)):\n    lo = max(0, i - 2)\n    hi = min(len(A), i + 3)\n"
        "    largest = A[lo]\n    for j in range(lo, hi):\n"
        "        largest = np.maximum(largest, A[j])\n    B[i] = largest",
    ),
    "cut where it is named": (
        "for i in range(len(A)):\n    w = A[max(0, i - 2) : i + 1]\n    B[i] = w.min()",
        "for i in range(len(A)):\n    start = max(0, i - 2)\n    smallest = A[start]\n"
        "    for j in range(start, i + 1):\n        smallest = np.minimum(smallest, A[j])\n"
        "    B[i] = smallest",
    ),
    "started at a name": (
        "for i in range(len(A) // 4):\n    k = 4 * i\n    w = A[k : k + 4]\n    B[i] = w[2]",
        "for i in range(len(A) // 4):\n    k = 4 * i\n    B[i] = A[k + 2]",
    ),
}


@pytest.mark.parametrize("name", BECOMES)
def test_is_seen_through(name):
    before, after = BECOMES[name]
    assert shown(before) == as_given(after)


STAYS = {
    "start that changes": "k = 1\nw = A[k : k + 3]\nwhile k < n:\n    w[0] = k\n    k += 1",
    "index beyond the window": "for i in range(4):\n    w = A[i : i + 3]\n    B[i] = w[3]",
    "index that may be beyond": "for i in range(4):\n    w = A[i : i + 3]\n    B[i] = w[B[i]]",
    "index before the window": "for i in range(4):\n    w = A[i : i + 3]\n    B[i] = w[i - 1]",
    "start that may be negative": "for i in range(4):\n    w = A[i - 2 : i + 3]\n    B[i] = w[0]",
    "step": "w = A[::2]\nw[0] = 1",
    "backwards": "w = A[::-1]\nw[0] = 1",
    "changed as a whole": "w = A[1:]\nw += 1",
    "step of a window": "w = A[1:]\nB[0] = w[::2].argmax()",
    "mask": "w = A[1:]\nw[w > 1] = 0",
    "copy": "w = A[1:4].copy()\nw[0] = A[1]",
    "array that is bound again": "C = A\nw = C[1:]\nw[0] = 1",
    "bound by cells that may wrap around": (
        "a = B[0]\nb = B[1]\nk = b - a\nw = A[a:b]\nfor j in range(k):\n    w[j] = 0"
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert shown(STAYS[name]) == as_given(STAYS[name])


def mean(x, out, r):
    for i in range(len(x)):
        window = x[max(i - r, 0) : min(i + r + 1, len(x))]
        out[i] = window.mean()


def product(x, w, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            patch = x[i : i + 3, j : j + 3]
            out[i, j] = np.sum(patch * w)


def spread(x, out, k):
    for i in range(len(x) - k + 1):
        window = x[i : i + k]
        middle = window.mean()
        x[i] = middle
        out[i] = ((window - middle) ** 2).mean()


def centred(x):
    for i in range(x.shape[0] // 4):
        block = x[4 * i : 4 * i + 4]
        first = block[0]
        for j in range(len(block)):
            block[j] = block[j] - first


def noise(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


CALLS = {
    "mean": (mean, lambda n: (noise(n), np.zeros(n), 2)),
    "product": (product, lambda n: (noise(n + 2, n + 3), noise(3, 3), np.zeros((n, n + 1)))),
    "spread": (spread, lambda n: (noise(n), np.zeros(n), 3)),
    "centred": (centred, lambda n: (noise(n),)),
}


@pytest.mark.parametrize("target", ["python", "emulate", pytest.param("cpu")])
@pytest.mark.parametrize("name", CALLS)
def test_values_are_those_of_numpy(name, target):
    function, arguments = CALLS[name]
    made = tile(function, target=target)
    for size in (1, 2, 3, 7):
        wanted, found = arguments(size), arguments(size)
        function(*wanted)
        made(*found)
        for one, two in zip(wanted, found, strict=True):
            np.testing.assert_allclose(two, one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CALLS)
def test_loops_around_windows_are_split(name):
    function, arguments = CALLS[name]
    schedule = Schedule(function)
    schedule.split("i", [None, 3])
    made = schedule.build("python")
    for size in (0, 1, 2, 3, 7):
        wanted, found = arguments(size), arguments(size)
        function(*wanted)
        made(*found)
        for one, two in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(two, one)


def test_an_index_outside_of_a_window_stays_an_error():
    made = kernel("w = A[1 : n + 1]\nfor j in range(3):\n    B[j] = w[j]")
    for count in (-1, 0, 2, 3, 4, 9):
        for size in (0, 2, 3, 4, 9):
            arguments = grid(size), grid(3), count
            found, wanted = outcome(made, *arguments), outcome(made.__wrapped__, *arguments)
            assert found == wanted or (found, wanted) == ("ArgumentError", "IndexError")


bound = st.sampled_from(["", "0", "1", "-1", "-2", "i", "i + 1", "i + 3", "n", "n - 1", "lo", "hi"])
index = st.sampled_from(
    ["0", "1", "j", "-1", "j + 1", "i", "n - 1", "1:", ":2", ":-1", "-2:", "j:"]
)
line = st.builds(lambda at, kind: kind.format(at), index, st.sampled_from([
    "B[j] += np.max(w[{}], initial=-9.0)", "B[j] -= np.sum(w[{}])", "w[{}] = B[j]", "A[j] = j",
    "B[j] += len(w)", "w[{}] *= 2", "B[j] = w.sum()",
]))  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(bound, bound, st.lists(line, min_size=1, max_size=3), st.integers(0, 4), st.integers(0, 4))
def test_windows_are_what_they_stand_for(start, stop, lines, size, count):
    body = "for i in range(n):\n    lo = max(i - 1, 0)\n    hi = min(i + 2, len(A))\n"
    body += f"    w = A[{start}:{stop}]\n    for j in range(2):\n"
    body += "".join(f"        {each}\n" for each in lines)
    made = read(body)
    values = {"A": grid(size), "B": -grid(2), "n": count}
    if not needs.are_met(made.needs, values):
        return
    plain = outcome(printed(made.written or made), *values.values())
    if plain == "IndexError" or isinstance(plain, str):
        return  # arrays after an error may differ
    assert outcome(printed(made), *values.values()) == plain, body
