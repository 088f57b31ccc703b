"""`x.size` of an array of one axis is its length, and stays what it is for others."""

from __future__ import annotations

import numpy as np
import pytest

from astile import Kernel, Schedule
from tests.support.plain_forms import as_given, shown

SHIFTED = "for i in range({bound}):\n    B[i] = A[i]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SHIFTED.format(bound="A.size"), SHIFTED.format(bound="A.shape[0]")),
        (
            "T = np.zeros(5)\nfor i in range(T.size - 1):\n    T[i] = B[i]",
            "T = np.zeros(5)\nfor i in range(T.shape[0] - 1):\n    T[i] = B[i]",
        ),
        ("A[0, 0] = A.size", "A[0, 0] = A.size"),
        ("B[0] = A.size", "B[0] = A.size"),
        ("A = B[0]\nB[1] = A.size", "A = B[0]\nB[1] = A.size"),
    ],
)
def test_counts_of_cells(before: str, after: str) -> None:
    assert shown(before) == as_given(after)


def halved(x, out):
    for i in range(x.size):
        out[i] = x[i] / 2


def test_loops_over_all_cells_are_split() -> None:
    s = Schedule(halved)
    s.split("i", [None, 4])
    out = np.zeros(7)
    s.build("python")(np.arange(7.0), out)
    assert out.tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]


def counted(x, out):
    for i in range(out.shape[0]):
        out[i] = x[i].sum() / x.size


def test_arrays_of_more_axes_keep_their_own_count() -> None:
    x, out = np.arange(6.0).reshape(2, 3), np.zeros(2)
    Kernel(counted, target="python")(x, out)
    assert out.tolist() == [0.5, 2.0]
