"""``continue``, loops over elements and tuples of names, each as plain loops and assignments."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.frontend.build import as_written, build
from astile.frontend.text import function_of
from astile.ir import needs
from tests.support.plain_forms import (
    as_given,
    grid,
    kernel,
    outcome,
    printed,
    shown,
    source,
)

LOOP = "for i in range(n):\n"
CONTINUE = {
    "guard": (
        LOOP + "    if i == 3:\n        continue\n    A[i] = 0",
        LOOP + "    if i != 3:\n        A[i] = 0",
    ),
    "guard on data": (
        LOOP + "    if A[i] < 3:\n        continue\n    A[i] = 0",
        LOOP + "    if not A[i] < 3:\n        A[i] = 0",
    ),
    "guard of a guard": (
        LOOP + "    if not n:\n        continue\n    A[i] = 0",
        LOOP + "    if n:\n        A[i] = 0",
    ),
    "something before": (
        LOOP + "    if i == 3:\n        A[i] = 1\n        continue\n    A[i] = 0",
        LOOP + "    if i == 3:\n        A[i] = 1\n    else:\n        A[i] = 0",
    ),
    "in the else": (
        LOOP + "    if i > 3:\n        A[i] = 1\n    else:\n        continue\n    A[i] += 1",
        LOOP + "    if i > 3:\n        A[i] = 1\n        A[i] += 1",
    ),
    "two": (
        LOOP + "    if i == 1:\n        continue\n    B[i] = 1\n    if i == 2:\n        continue\n"
        "    A[i] = 0",
        LOOP + "    if i != 1:\n        B[i] = 1\n        if i != 2:\n            A[i] = 0",
    ),
    "at the end": (LOOP + "    A[i] = 0\n    continue", LOOP + "    A[i] = 0"),
    "nothing after": (
        LOOP + "    if A[i] > 1:\n        continue",
        LOOP + "    if A[i] > 1:\n        pass",
    ),
    "inner loop": (
        LOOP + "    for j in range(n):\n        if i == j:\n            continue\n        A[j] = i",
        LOOP + "    for j in range(n):\n        if i != j:\n            A[j] = i",
    ),
}
TUPLES = {
    "constants": ("s, c = 0.0, 0\nA[c] = s", "s = 0.0\nc = 0\nA[c] = s"),
    "exchange": ("a, b = A[0], n\na, b = b, a\nA[0] = a - b",
                 "a = A[0]\nb = n\nvalue = b\nb = a\na = value\nA[0] = a - b"),
    "sum of both": ("a, b = 0, 1\na, b = b, a + b\nA[a] = b",
                    "a = 0\nb = 1\nvalue = b\nb = a + b\na = value\nA[a] = b"),
}  # fmt: skip
ELEMENTS = {
    "elements": (
        "for x in A:\n    B[0] += x",
        "for i in range(A.shape[0]):\n    x = A[i]\n    B[0] += x",
    ),
    "enumerate": (
        "for k, x in enumerate(A):\n    B[k] = x",
        "for k in range(A.shape[0]):\n    x = A[k]\n    B[k] = x",
    ),
    "enumerate from 1": (
        "for k, x in enumerate(A, 1):\n    B[-k] = x",
        "for k in range(1, A.shape[0] + 1):\n    x = A[k - 1]\n    B[-k] = x",
    ),
    "enumerate from below 0": (
        "for k, x in enumerate(A[1:], start=-1):\n    B[k] = x",
        "for k in range(-1, A.shape[0] - 2):\n    x = A[k + 2]\n    B[k] = x",
    ),
    "enumerate of zip from 2": (
        "for k, (x, y) in enumerate(zip(A, B), start=2):\n    B[k - 2] = x * k + y",
        "for k in range(2, min(A.shape[0], B.shape[0]) + 2):\n    x = A[k - 2]\n    y = B[k - 2]\n"
        "    B[k - 2] = x * k + y",
    ),
    "reversed elements": (
        "for x in reversed(A):\n    B[0] = B[0] / 2 + x",
        "for i in range(A.shape[0] - 1, -1, -1):\n    x = A[i]\n    B[0] = B[0] / 2 + x",
    ),
    "reversed elements of a slice": (
        "for x in reversed(A[1:]):\n    B[0] = B[0] / 2 + x",
        "for i in range(A.shape[0] - 2, -1, -1):\n    x = A[i + 1]\n    B[0] = B[0] / 2 + x",
    ),
    "zip": (
        "for x, y in zip(A, B):\n    x += y\n    B[0] = x",
        "for i in range(min(A.shape[0], B.shape[0])):\n    x = A[i]\n    y = B[i]\n    x += y\n"
        "    B[0] = x",
    ),
    "enumerate of zip": (
        "for k, (x, y) in enumerate(zip(A, A)):\n    B[k] = x + y",
        "for k in range(A.shape[0]):\n    x = A[k]\n    y = A[k]\n    B[k] = x + y",
    ),
    "name that is not read": (
        "for k, _ in enumerate(A):\n    B[k] = k",
        "for k in range(A.shape[0]):\n    B[k] = k",
    ),
    "rows": (
        "for k, row in enumerate(A):\n    for x in row:\n        B[k] += x * row[0]",
        "for k in range(A.shape[0]):\n    for i in range(A.shape[1]):\n        x = A[k, i]\n"
        "        B[k] += x * A[k, 0]",
    ),
    "elements of a slice": (
        "for x in A[1:]:\n    B[0] += x",
        "for i in range(A.shape[0] - 1):\n    x = A[i + 1]\n    B[0] += x",
    ),
    "neighbours": (
        "for x, y in zip(A[:-1], A[1:]):\n    B[0] += x * y",
        "for i in range(A.shape[0] - 1):\n    x = A[i]\n    y = A[i + 1]\n    B[0] += x * y",
    ),
    "elements of rows": (
        "for row in A:\n    for x in row:\n        B[0] += x",
        "for i in range(A.shape[0]):\n    for j in range(A.shape[1]):\n        x = A[i, j]\n"
        "        B[0] += x",
    ),
    "length with a name": (
        "m = len(A)\nfor x in A:\n    B[0] += x",
        "m = len(A)\nfor i in range(m):\n    x = A[i]\n    B[0] += x",
    ),
    "reversed": (
        "for i in reversed(range(1, n)):\n    A[i] = A[i - 1]",
        "for i in range(n - 1, 0, -1):\n    A[i] = A[i - 1]",
    ),
    "indices": (
        "for i, j in np.ndindex(A.shape):\n    A[i, j] = 0",
        "for i in range(A.shape[0]):\n    for j in range(A.shape[1]):\n        A[i, j] = 0",
    ),
}
BECOMES = CONTINUE | TUPLES | ELEMENTS


@pytest.mark.parametrize("name", BECOMES)
def test_becomes_plain(name):
    before, after = BECOMES[name]
    assert shown(before) == as_given(after)


STAYS = {
    "continue beside break": LOOP + "    if A[i] > 1:\n        break\n    if i == 1:\n"
    "        continue\n    A[i] = 0",
    "continue beside return": LOOP + "    if i == 1:\n        continue\n    if A[i]:\n"
    "        return i",
    "continue on one of two ways": LOOP + "    if n:\n        if i == 1:\n            continue\n"
    "        A[i] = 1\n    A[i] += 1",
    "continue in a while": "while n:\n    n -= 1\n    if n == 3:\n        continue\n    A[n] = 0",
    "exchange of cells": "A[0], A[1] = A[1], A[0]",
    "exchange of arrays": "A, B = B, A\nA[0] = B[0]",
    "shape": "h, w = A.shape\nA[0, w - 1] = h",
    "one value for two names": "a, b = A\nB[0] = a + b",
    "nested": "(a, b), c = (n, 1), 2\nA[a] = b + c",
    "one name twice": "a, a = n, 1\nA[0] = a",
    "elements of what was made": "C = np.sort(A)\nfor x in C:\n    B[0] += x",
    "elements of a tuple": "for x in (1, 2):\n    A[x] = 0",
    "elements of a slice with a step": "for x in A[::2]:\n    B[0] += x",
    "elements of a slice whose end changes": "for x in A[:n]:\n    n -= 1\n    B[0] += x",
    "elements of what is bound again": "A = B\nfor x in A:\n    B[0] += x",
    "enumerate from a name": "for k, x in enumerate(A, n):\n    B[k - n] = x",
    "enumerate from a call": "for k, x in enumerate(A, int(1)):\n    B[k - 1] = x",
    "reversed pairs": "for k, x in enumerate(reversed(A)):\n    B[k] = x",
    "zip with a range": "for k, x in zip(range(n), A):\n    B[k] = x",
    "one name for a pair": "for pair in zip(A, B):\n    B[0] = pair[0]",
    "reversed with a step": "for i in reversed(range(0, n, 2)):\n    A[i] = 0",
    "indices of numbers": "for i, j in np.ndindex(n, n):\n    A[i, j] = 0",
    "indices that stop": "for i, j in np.ndindex(A.shape):\n    if A[i, j]:\n        break",
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert shown(STAYS[name]) == as_given(STAYS[name])


@pytest.mark.parametrize("size", [0, 1, 2, 5])
@pytest.mark.parametrize("name", [*BECOMES, *STAYS])
def test_calls_do_the_same(name, size):
    body = STAYS.get(name) or BECOMES[name][0]
    A = grid(3, size) if "row" in name or "indices" in name or name == "shape" else grid(size)
    made = kernel(body)
    for B in (grid(6), grid(2)):
        found, wanted = (outcome(each, A, B, size) for each in (made, made.__wrapped__))
        assert found == wanted or found == "ArgumentError"
        assert found != "ArgumentError" or isinstance(wanted, str)


def test_lists_are_no_arrays():
    made = kernel("for x in A:\n    B[0] += x")
    assert made._original.needs
    assert not needs.are_met(made._original.needs, {"A": [1, 2], "B": grid(1), "n": 0})


# --- random bodies ------------------------------------------------------------------------------

simple = st.sampled_from(
    [
        "A[i] += 1",
        "x = A[i]",
        "A[i] = x * 2",
        "x, y = y, x",
        "x, y = y, x + i",
        "y += 1",
        "B[0] += y",
    ]
)
test = st.sampled_from(["i == 2", "A[i] > 3", "x < y", "not y > 2", "i != 1", "i > 1 and y"])


def _block(lines: list[str]) -> str:
    return "".join("".join(f"    {part}\n" for part in each.splitlines()) for each in lines)


body = st.recursive(
    st.one_of(simple, simple, st.just("continue")),
    lambda inner: st.builds(
        lambda t, yes, no: f"if {t}:\n{_block(yes)}" + (f"else:\n{_block(no)}" if no else ""),
        test,
        st.lists(inner, min_size=1, max_size=3),
        st.lists(inner, max_size=2),
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(body, min_size=1, max_size=4), st.sampled_from(["", "break", "return x"]))
def test_random_bodies_do_the_same(lines, last):
    looped = [*lines, f"if y > 20:\n    {last}"] if last else lines
    text = source(f"x, y = 1, 2\nfor i in range(n):\n{_block(looped)}return x, y")
    function = function_of(text, "f")
    one, other = printed(as_written(function)), printed(build(function))
    assert outcome(other, grid(6), grid(1), 6) == outcome(one, grid(6), grid(1), 6), text
