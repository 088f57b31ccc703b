from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile.ir.module import module_text
from astile.rewrites.distribute import distribute
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    program,
    refused,
    rewritten,
    sizes,
    stage,
)

Golden = Callable[[str, str], None]

TWO = """
def f(x, a, b):
    n = len(x)
    for i in range({bounds}):
        a[i] = x[i]
        b[i] = {value}
"""
SCALAR = """
def f(x, y):
    n, m = x.shape
    for i in range(n):
        s = 0.0
        for j in range(m):
            s += x[i, j]
        for j in range(m):
            y[i, j] = x[i, j] - s
"""


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 2.0, np.zeros(n), np.zeros(n)


def squares(n: int) -> tuple[object, ...]:
    return (np.arange(n * (n + 1)) % 7.0).reshape(n, n + 1), np.zeros((n, n + 1))


# --- rewrites -----------------------------------------------------------------------------------


def test_two_statements(golden: Golden) -> None:
    before = program(TWO.format(bounds="n", value="a[i] + 1"))
    after, made = applied(distribute, before, loop(before, "i"), 1)
    golden("rewrites/distribute/two.py", module_text(after))
    assert len(made) == 2
    assert made[1] == loop(before, "i")
    assert_proved(before, after)


@pytest.mark.parametrize("at", [1, 2])
def test_scalars_that_pass_from_one_part_to_the_next(golden: Golden, at: int) -> None:
    before = program(SCALAR)
    after = rewritten(distribute, before, loop(before, "i"), at)
    golden(f"rewrites/distribute/scalar_{at}.py", module_text(after))
    assert_proved(before, after)


def test_scalars_of_one_part_stay_scalars(golden: Golden) -> None:
    before = program("""
def f(x, y, z):
    for i in range(len(x)):
        t = x[i] * 2
        y[i] = t * t
        t = x[i] + 1
        z[i] = t / 2
""")
    after = rewritten(distribute, before, loop(before, "i"), 2)
    golden("rewrites/distribute/own_scalars.py", module_text(after))


def test_at_a_stage_inside_inner_loops(golden: Golden) -> None:
    before = program("""
def sobel(x, gx, gy):
    n, m = gx.shape
    for i in range(n):
        gx[i, 0] = 0.0
        for j in range(m):
            if j > 0:
                gx[i, j] = x[i, j + 1] - x[i, j]
                gy[i, j] = x[i + 1, j] - x[i, j]
        gy[i, 0] = 0.0
""")
    after, made = applied(distribute, before, loop(before, "i"), stage(before, "gy"))
    golden("rewrites/distribute/stage.py", module_text(after))
    assert len(made) == 2
    assert_proved(before, after)


def test_inside_another_loop_of_literal_length(golden: Golden) -> None:
    before = program("""
def f(x, y):
    for t in range(len(x)):
        for i in range(0, 8, 2):
            s = x[t, i] * 2
            y[t, i] = s
""")
    after = rewritten(distribute, before, loop(before, "i"), 1)
    golden("rewrites/distribute/inside.py", module_text(after))
    assert_proved(before, after)


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 2, -1, 7])
def test_an_empty_part(at: int) -> None:
    before = program(TWO.format(bounds="n", value="a[i]"))
    error = refused(distribute, before, loop(before, "i"), at)
    assert error.code == "schedule.nothing-to-do"
    assert "the loop over i has no statement before" in str(error)


def test_a_stage_elsewhere() -> None:
    before = program(TWO.format(bounds="n", value="a[i]") + "    x[0] = 1\n")
    error = refused(distribute, before, loop(before, "i"), stage(before, "x"))
    assert error.code == "schedule.not-nested"
    assert "x is not computed inside the loop over i" in str(error)


def test_a_loop_left_early() -> None:
    before = program("""
def f(x, y):
    for i in range(len(x)):
        y[i] = 1
        if x[i] > 3:
            break
""")
    error = refused(distribute, before, loop(before, "i"), 1)
    assert error.code == "schedule.not-counted"
    assert "the loop over i may be left early" in str(error)


def test_a_loop_over_no_range() -> None:
    before = program("def f(x, y):\n    for i in x:\n        y[0] = i\n        y[1] = i\n")
    assert refused(distribute, before, loop(before, "i"), 1).code == "schedule.not-counted"


def test_an_array_of_one_iteration() -> None:
    before = program("""
def f(x, y):
    for i in range(len(x)):
        t = local.empty(1, np.float64)
        t[0] = x[i]
        y[i] = t[0]
""")
    error = refused(distribute, before, loop(before, "i"), 2)
    assert error.code == "schedule.allocated-between"
    assert "t is allocated inside the loop over i" in str(error)


def test_a_scalar_of_unknown_type() -> None:
    before = program("""
def f(x, y):
    for i in range(len(x)):
        s = g(x[i])
        y[i] = s
""")
    error = refused(distribute, before, loop(before, "i"), 1)
    assert error.code == "schedule.unknown-type"
    assert "the scalar 's'" in str(error)


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", ["n", "n - 1, -1, -1", "1, n, 3", "n - 2"])
def test_at_awkward_sizes(bounds: str) -> None:
    before = program(TWO.format(bounds=bounds, value="a[i] * a[i]"))
    after = rewritten(distribute, before, loop(before, "i"), 1)
    assert_same_results(before, after, vectors, sizes(4))
    assert_proved(before, after)


@pytest.mark.parametrize("at", [1, 2])
def test_scalars_at_awkward_sizes(at: int) -> None:
    before = program(SCALAR)
    after = rewritten(distribute, before, loop(before, "i"), at)
    assert_same_results(before, after, squares, sizes(4))


def test_scalars_in_ranges_that_start_anywhere_and_may_be_empty() -> None:
    before = program("""
def f(x, y):
    n = len(x)
    for i in range(n - 3, 1, -2):
        s = x[i] * 3
        y[i] = s
""")
    after = rewritten(distribute, before, loop(before, "i"), 1)
    assert_same_results(before, after, lambda n: (np.arange(n * 1.0), np.zeros(n)), range(12))
    assert_proved(before, after)


# --- trace --------------------------------------------------------------------------------------


def two(x, a, b):
    for i in range(len(x)):
        a[i] = x[i]
        b[i] = a[i] + 1


def test_the_printed_script_replays() -> None:
    schedule = Schedule(two)
    schedule.distribute("i", at="b")
    assert_replays(schedule)
