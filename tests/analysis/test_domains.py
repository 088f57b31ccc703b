"""Bounds of loop variables by constants: what is said to be so is so in every iteration."""

from __future__ import annotations

import pytest

from astile.analysis import isl
from astile.analysis.forms.affine_sets import quasi
from astile.analysis.reading.domains import Signs, highs, lowest, lows
from astile.analysis.reading.statements import Leaf, leaves
from tests.support.programs import program_from


def last(text: str) -> Leaf:
    return leaves(program_from(f"def f(A, n):\n{text}"))[-1]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("    for i in range(5):\n        for j in range(i, 9):\n            A[j] = 1\n", 0, 8),
        ("    for i in range(5):\n        for j in range(9, i, -1):\n            A[j] = 1\n", 1, 9),
        (
            "    for i in range(2, 5):\n        for j in range(-i, 4):\n            A[j] = 1\n",
            -4,
            3,
        ),
        (
            "    for i in range(5):\n        for j in range(2 - i, i):\n            A[j] = 1\n",
            -2,
            None,
        ),
        ("    for j in range(n, 7):\n        A[j] = 1\n", None, 6),
        ("    for j in range(3, n):\n        A[j] = 1\n", 3, None),
        ("    for j in range(n % 4, 7):\n        A[j] = 1\n", 0, 6),
        ("    for j in range(-(n % 4), 7):\n        A[j] = 1\n", None, 6),
        ("    for j in range(n // 4, 7):\n        A[j] = 1\n", None, 6),
        ("    for j in range(len(A) - 2, 7):\n        A[j] = 1\n", -2, 6),
    ],
)
def test_constants_that_bound_a_variable(text, low, high):
    place = last(text).place
    variable = place.dimensions[-1]
    assert lows(place).get(variable) == low
    assert highs(place).get(variable) == high


@pytest.mark.parametrize(
    ("index", "never"),
    [
        ("j", True),
        ("j - 4", False),
        ("i + j", True),
        ("j - i", True),
        ("n + 3", False),
        ("n + 9", True),
    ],
)
def test_indices_that_are_never_negative(index, never):
    text = "    for i in range(5):\n        for j in range(i, 9 + n):\n            A[{}] = 1\n"
    leaf = last(text.format(index))
    [cell] = leaf.node.targets
    form = quasi(cell.slice, leaf.place.scope)
    assert form is not None
    assert Signs(isl.Session()).is_never_negative(form, leaf.place) == never
    if not never:
        low = lowest(form, lows(leaf.place))
        assert low is None or low < 0
