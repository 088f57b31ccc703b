"""Columns that are read side by side are turned in registers."""

from __future__ import annotations

import numba  # noqa: TID251
import numpy as np
import pytest

from astile.intrinsics.vectors import columns, store
from tests.lower.test_explicit_vectors import lowered

F64 = {"x": "float64", "y": "float64", "m": "int"}
TURN = """
    def f(x, y, m):
        for k in range(m):
            for i in unroll(2):
                for j in vector(2):
                    y[i, j + k] = x[j + k, i + 1]
    """


def text_of(text: str) -> str:
    return lowered(text, F64, width=16)


def test_a_square_is_loaded_by_rows() -> None:
    text = text_of(TURN)
    assert "x_columns = columns(x, (k, 1), 2)" in text
    assert "store(y, (0, k), x_columns[0])" in text
    assert "store(y, (1, k), x_columns[1])" in text
    assert "load_along" not in text


def test_squares_beside_each_other() -> None:
    text = text_of(TURN.replace("unroll(2)", "unroll(5)"))
    assert "columns(x, (k, 1), 2)" in text
    assert "columns(x, (k, 3), 2)" in text
    assert "load_along(x, (k, 5), 0, 2)" in text


def test_a_column_is_missing() -> None:
    assert "columns(" not in text_of(TURN.replace("i + 1]", "2 * i]"))


@pytest.mark.parametrize(
    "changed",
    [
        TURN.replace("y[i, j + k] =", "x[i, j + k] ="),  # what is stored may be read next
        TURN.replace("            for i", "            x, y = y, x\n            for i"),
    ],
)
def test_stores_end_a_square(changed: str) -> None:
    assert "columns(" not in text_of(changed)


@numba.njit
def _turned(x, y):
    found = columns(x, (1, 2), 4)
    store(y, (0, 0), found[0])
    store(y, (1, 0), found[1])
    store(y, (2, 0), found[2])
    store(y, (3, 0), found[3])


def test_columns_of_arrays_of_every_layout() -> None:
    x = np.arange(48.0).reshape(6, 8)
    for each in (x, np.asfortranarray(x)):
        y = np.zeros((4, 4))
        _turned(each, y)
        np.testing.assert_array_equal(y, x[1:5, 2:6].T)
