"""Rows that are taken apart, `x, y = A[i]`: what becomes cells, what stays, the values."""

from __future__ import annotations

import numpy as np
import pytest

from astile import Schedule, tile
from tests.support.plain_forms import as_given, grid, kernel, outcome, shown

LOOP = "for i in range(A.shape[0]):\n"


def check(row: str, count: int = 2) -> str:
    """What a printed text looks at first."""
    message = f'    raise ValueError("{row} does not have {count} cells")\n'
    return f"if A.shape[1] != {count}:\n{message}"


BECOMES = {
    "row": (
        LOOP + "    x, y = A[i]\n    B[i] = x * y",
        check("A[i]") + LOOP + "    x = A[i, 0]\n    y = A[i, 1]\n    B[i] = x * y",
    ),
    "elements of a loop": (
        "for k, (x, y) in enumerate(A):\n    B[k] = x * y",
        check("A[k]") + "for k in range(A.shape[0]):\n    x = A[k, 0]\n    y = A[k, 1]\n"
        "    B[k] = x * y",
    ),
    "elements of a loop beside others": (
        "for (x, y), b in zip(A, B):\n    B[0] += x * y * b",
        check("A[i]") + "for i in range(min(A.shape[0], B.shape[0])):\n    x = A[i, 0]\n"
        "    y = A[i, 1]\n    b = B[i]\n    B[0] += x * y * b",
    ),
    "part of a row": (
        LOOP + "    x, y = A[i, 1:3]\n    B[i] = x * y",
        LOOP + "    x = A[i, 1]\n    y = A[i, 2]\n    B[i] = x * y",
    ),
}


@pytest.mark.parametrize("name", BECOMES)
def test_becomes_cells(name):
    before, after = BECOMES[name]
    assert shown(before) == as_given(after)


STAYS = {
    "what picks the row": "i = 0\ni, k = A[i]\nB[0] = i + k + A[0, 0]",
    "into cells": LOOP + "    B[i], B[0] = A[i]\n    A[i, 0] = 1",
    "rows": LOOP + "    x, y = A[i]\n    B[i] = x[0] + y[0] + A[i, 0, 0]",
    "a mask": "m = A[:, 0] > 0\nx, y = A[m]\nB[0] = A[0, 0]",
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert "A[i, 1]" not in shown(STAYS[name])
    assert "A[m, 0]" not in shown(STAYS[name])


def distances(p, out):
    for i, (xi, yi) in enumerate(p):
        for j in range(p.shape[0]):
            xj, yj = p[j]
            out[i, j] = np.sqrt((xi - xj) * (xi - xj) + (yi - yj) * (yi - yj))


def points(count):
    return np.random.default_rng(0).standard_normal((count, 2)), np.zeros((count, count))


@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
def test_values_are_kept(target):
    schedule = Schedule(distances)
    schedule.split("i", [None, 3])
    schedule.split("j", [None, 2])
    for made in (tile(distances, target=target), schedule.build(target)):
        for size in (0, 1, 2, 7):
            p, out = points(size)
            wanted = out.copy()
            distances(p, wanted)
            made(p, out)
            np.testing.assert_allclose(out, wanted, rtol=1e-15)


def test_rows_of_other_lengths_stay_an_error():
    made = kernel(LOOP + "    x, y = A[i]\n    B[i] = x * y")
    for width in (0, 1, 2, 3):
        for size in (0, 1, 4):
            arguments = grid(size, width), grid(4), 0
            assert outcome(made, *arguments) == outcome(made.__wrapped__, *arguments)
