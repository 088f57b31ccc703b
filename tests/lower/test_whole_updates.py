"""Updates of whole arrays and rows that are no loops: numba's own go past the end, and overlap."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from astile import LoweringError, tile
from astile.kernel import Kernel


def whole(x, y):
    x[0] += 0
    y[0] += 0
    x += y


def sliced(x, y):
    x[1:] += y[1:]


def rows(x, y):
    for i in range(x.shape[0]):
        x[i] += y[i]


def mirrored(x, y):
    x[0] += 0
    x -= x[::-1]


def running(x, y):
    x[1:] += x[:-1]


def row_of_rows(x, y):
    for row in x:
        row += row[::-1]


@cache
def on_cpu(function: Callable[..., Any]) -> Kernel[..., Any]:
    """One for all tests, so that it is compiled once for each type."""
    return tile(target="cpu")(function)


@pytest.mark.parametrize("function", [whole, sliced, rows])
@pytest.mark.parametrize("other", [3, 5])
def test_other_lengths_raise_and_store_nothing(function, other):
    x, y = np.ones((3, 4)), np.ones((3, other))
    if function is not rows:
        x, y = x.T.copy(), y.T.copy()
    before = x.copy()
    with pytest.raises(ValueError, match="broadcast"):
        on_cpu(function)(x, y)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("shapes", [((4,), (1,)), ((1,), (1,)), ((4, 3), (3,)), ((4, 3), (4, 1))])
@pytest.mark.parametrize("function", [whole, sliced])
def test_one_cell_is_added_to_many(function, shapes):
    if function is sliced and shapes[1] in ((1,), (3,)):
        shapes = ((5, 3), (2, 3))
    random = np.random.default_rng(0)
    x, y = (random.random(each) for each in shapes)
    wanted = x.copy()
    function(wanted, y)
    on_cpu(function)(x, y)
    np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("shapes", [((1,), (3,)), ((4, 1), (4, 3)), ((3,), (1, 3))])
def test_cells_do_not_become_more(shapes):
    x, y = map(np.ones, shapes)
    with pytest.raises((ValueError, LoweringError)):
        whole(x, y)
    with pytest.raises((ValueError, LoweringError)):
        tile(target="cpu")(whole)(x, y)
    assert (x == 1).all()


@pytest.mark.parametrize("function", [mirrored, running, row_of_rows])
@pytest.mark.parametrize("dtype", ["complex128", "float64", "int32"])
@pytest.mark.parametrize("shape", [(5,), (4, 3), (1,), (0, 3)])
def test_cells_are_read_before_they_are_stored(function, dtype, shape):
    if (function is row_of_rows) != (len(shape) == 2) or (function is mirrored and 0 in shape):
        shape = (5, 4) if function is row_of_rows else (5,)
    x = (10 * np.random.default_rng(1).random(shape)).astype(dtype)
    if dtype == "complex128":
        x *= 1 + 2j
    wanted = x.copy()
    function(wanted, None)
    on_cpu(function)(x, np.zeros(1))
    np.testing.assert_array_equal(x, wanted)


def test_a_wider_type_is_refused_where_numpy_refuses_it():
    x = np.ones(4, np.int64)
    with pytest.raises(TypeError):
        sliced(x, np.ones(4))
    with pytest.raises(LoweringError, match="does not store float64 into cells of int64"):
        tile(target="cpu")(sliced)(x, np.ones(4))
    assert (x == 1).all()
