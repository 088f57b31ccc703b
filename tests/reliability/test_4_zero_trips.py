"""Loops that never run store nothing, and nothing moves in front of their trip test."""

import numpy as np
import pytest

from astile.errors import AstileError
from astile.schedule.schedule import Schedule
from astile.schedule.trace import Call
from tests.fuzz.oracle import Case, check
from tests.fuzz.programs import Source
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


#: Ranges that run backwards, not at all, or not at all for most sizes.
RANGES = ("n", "2, n", "2, n + 1, -1", "n - 1, -1, -1", "n, 2", "5, n, -1", "m - 1, n, -1", "0")
STEPS = (
    Call("reverse_compute_inline", ("y",), {}),
    Call("compute_inline", ("a",), {}),
    Call("compute_at", ("a", "k"), {}),
    Call("reverse_compute_at", ("y", "i"), {}),
    Call("merge", ("i", "k"), {}),
)


@pytest.mark.parametrize("first", RANGES)
def test_a_producer_and_a_consumer_whose_ranges_may_be_empty(first):
    """Whatever is accepted gives the same and stays inside its arrays, at sizes 0 to 7."""
    seen = set()
    for number, second in enumerate(RANGES):
        text = f"""
import numpy as np


def f(x, y, n, m):
    a = np.zeros(max(n, m) + 3)
    for i in range({first}):
        a[i] = x[i] + 1
    for k in range({second}):
        y[k] = a[k] * 2
"""
        source = Source(text, dict.fromkeys(("x", "y"), ("2 * max(n, m) + 10",)))
        step = STEPS[(number + RANGES.index(first)) % len(STEPS)]
        assert check(Case(source, (step,))) is None
        seen.add(step.primitive)
    assert len(seen) == len(STEPS)
