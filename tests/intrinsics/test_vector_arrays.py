"""Arrays for vectors are those of np.empty, but for where they start."""

from __future__ import annotations

import numba  # noqa: TID251
import numpy as np
import pytest

from astile.intrinsics.vectors import empty_aligned


@numba.njit
def made(rows, columns, like):
    return empty_aligned((rows, columns), like.dtype)


@numba.njit
def made_in_line(cells):
    return empty_aligned(cells, np.int8)


def test_every_array_starts_at_a_line_of_the_cache() -> None:
    like = np.zeros(1, np.float32)
    kept = [made(rows, 5, like) for rows in range(1, 40)]  # some 32 bytes apart without
    assert {each.ctypes.data % 64 for each in kept} == {0}
    assert {each.dtype for each in kept} == {like.dtype}
    assert [each.shape for each in kept] == [(rows, 5) for rows in range(1, 40)]
    assert all(each.flags.c_contiguous for each in kept)


def test_the_number_of_cells_alone() -> None:
    array = made_in_line(3)
    assert (array.shape, array.dtype, array.ctypes.data % 64) == ((3,), np.int8, 0)
    assert made_in_line(0).size == 0


def test_no_such_length() -> None:
    with pytest.raises(ValueError, match="negative dimensions not allowed"):
        made_in_line(-1)
