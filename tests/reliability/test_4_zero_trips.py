"""Loops that never run store nothing, and nothing moves in front of their trip test."""

import numpy as np
import pytest

from astile.errors import AstileError
from astile.schedule.schedule import Schedule
from tests.reliability.running import assert_same, whole


def row_sums(x, out):
    n, m = x.shape
    for i in range(n):
        s = 0.0
        for j in range(m):
            s += x[i, j]
        out[i] = s


def only_if_any(x, out):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            out[i] = x[i, j]


def first_of_row(x, out):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            out[i, j] = x[i, 0] + x[i, j]


SHAPES = [(0, 0), (0, 3), (3, 0), (1, 1), (4, 5)]


@pytest.mark.parametrize("tail", ["guard", "cut"])
@pytest.mark.parametrize("factor", [1, 2, 7])
def test_splits(tail, factor):
    for function in (row_sums, only_if_any):
        s = Schedule(function)
        s.split("i", [None, factor], tail=tail)
        s.split("j" if tail == "guard" else "j#0", [None, factor], tail=tail)
        assert_same(s, function, [(whole(*shape), whole(shape[0], seed=1)) for shape in SHAPES])


def test_interchange_with_a_reduction_beside_it():
    s = Schedule(row_sums)
    s.reorder("j", "i")
    assert_same(s, row_sums, [(whole(*shape), whole(shape[0], seed=1)) for shape in SHAPES])


def test_a_store_after_an_inner_loop_that_may_not_run_stays():
    s = Schedule(only_if_any)
    try:
        s.reorder("j", "i")
    except AstileError:
        return
    assert_same(s, only_if_any, [(whole(*shape), whole(shape[0], seed=1)) for shape in SHAPES])


def test_a_tile_with_no_iterations():
    s = Schedule(first_of_row)
    s.tile(["i", "j"], [2, 3])
    assert_same(s, first_of_row, [(whole(*shape), np.full(shape, np.nan)) for shape in SHAPES])
