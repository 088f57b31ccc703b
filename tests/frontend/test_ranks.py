"""How many axes arrays have, as the text of a function shows it."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from astile import Schedule
from astile.frontend.evidence import index_counts

SHOWS = {
    "cells": ("y = A[i, j]", {"A": 2}),
    "a row": ("row = A[i]\ny = row[j]", {"row": 1, "A": 2}),
    "a difference of rows": ("d = A[i] - A[j]\ny = d[0]", {"d": 1, "A": 2}),
    "a difference of planes": ("d = A[i] * A[j]\ny = d[0, 1]", {"d": 2, "A": 3}),
    "a difference of cells": ("d = A[i] - A[j]\ny = d * d", {"A": 1}),
    "rows of two arrays, one of which may be a number": (
        "d = A[i] - B[j]\ny = d[0]",
        {"d": 1, "A": 1, "B": 1},
    ),
    "a small array that is stored": ("v = np.zeros(3)\nv += y\nA[i] = v", {"v": 1, "A": 2}),
    "a small array of two axes": ("v = np.zeros((3, 2))\nA[i] = v", {"v": 2, "A": 3}),
    "an array of one cell": ("v = np.zeros(1)\nA[i] = v", {"A": 1}),
    "an array of a size that may be a shape": ("v = np.zeros(n)\nA[i] = v", {"A": 1}),
    "a name of other things": ("v = np.zeros(3)\nv = 2.0\nA[i] = v", {"A": 1}),
    "a part of a name of two things": ("v = B[i]\ny = v[0]\nv = 2.0\nA[i] = v", {"A": 1}),
}


@pytest.mark.parametrize("name", SHOWS)
def test_what_the_text_shows(name: str) -> None:
    text, expected = SHOWS[name]
    body = "".join(f"    {each}\n" for each in text.splitlines())
    (function,) = ast.parse(f"def f(A, B, y, i, j, n):\n{body}").body
    assert isinstance(function, ast.FunctionDef)
    found = index_counts(function)
    assert {each: found.get(each, 0) for each in expected} == expected


def forces(p, m, f):
    n = p.shape[0]
    for i in range(n):
        acc = np.zeros(3)
        for j in range(n):
            if i != j:
                d = p[j] - p[i]
                acc += m[j] * d / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        f[i] = acc


def test_points_as_rows_under_a_schedule() -> None:
    s = Schedule(forces)
    s.split("i", [None, 4])
    random = np.random.default_rng(0)
    p, m = random.random((7, 3)), random.random(7)
    expected, found = np.zeros((7, 3)), np.zeros((7, 3))
    forces(p, m, expected)
    s.build("python")(p, m, found)
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(IndexError, match="invalid index"):  # as Python says
        s.build("python")(p[:, 0].copy(), m, found)
    with pytest.raises(ValueError, match=r"operands could not be broadcast|shape"):
        s.build("python")(random.random((7, 4)), m, found)
