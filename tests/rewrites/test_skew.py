from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.rewrites.skew import skew
from astile.rewrites.split import split
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    loops,
    program,
    refused,
    rewritten,
    sizes,
)

Golden = Callable[[str, str], None]

SWEEP = """
def sweep(y, steps):
    n = len(y)
    for t in range(steps):
        for i in range(1, n - 1):
            y[i] = y[i - 1] + y[i] + y[i + 1]
"""


def sweep(y, steps):
    n = len(y)
    for t in range(steps):
        for i in range(1, n - 1):
            y[i] = y[i - 1] + y[i] + y[i + 1]


def jacobi_1d(a, b, steps):
    n = len(a)
    for t in range(steps):
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
        for i in range(1, n - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3


def jacobi_2d(a, b, steps):
    n, m = a.shape
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) / 5
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = (b[i, j] + b[i - 1, j] + b[i + 1, j] + b[i, j - 1] + b[i, j + 1]) / 5


def lines(n: int) -> tuple[object, ...]:
    return np.arange(n) % 5.0, 10


def merged(schedule: Schedule, *variables: str) -> None:
    """Make one nest of the two half-steps of a Jacobi iteration."""
    for each in variables:
        schedule.shift(f"a.{each}", 1)
    for each in variables:
        schedule.merge(f"b.{each}", f"a.{each}")


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "factor"), [("once", 1), ("twice", 2), ("back", -1)])
def test_factors(golden: Golden, name: str, factor: int) -> None:
    before = program(SWEEP)
    after, made = applied(skew, before, *loops(before, "t", "i"), factor)
    golden(f"rewrites/skew/{name}.py", module_text(after))
    assert made == tuple(loops(before, "t", "i"))
    assert_proved(before, after)


def test_there_and_back_is_the_nest_as_it_was() -> None:
    before = program(SWEEP)
    there = rewritten(skew, before, *loops(before, "t", "i"), 3)
    back = rewritten(skew, there, *loops(before, "t", "i"), -3)
    assert module_text(back) == module_text(before)


def test_tiles_of_a_skewed_loop_are_skewed(golden: Golden) -> None:
    before = program(SWEEP)
    after = rewritten(skew, before, *loops(before, "t", "i"), 1)
    after = rewritten(split, after, loop(after, "i"), [None, 16])
    golden("rewrites/skew/split.py", module_text(after))
    assert_proved(before, after)
    assert_same_results(before, after, lines, sizes(16))


def test_a_sweep_is_tiled_in_time_and_space(golden: Golden) -> None:
    schedule = Schedule(sweep)
    schedule.skew("t", "i", 1)
    schedule.tile(["t", "i"], [4, 16])
    golden("rewrites/skew/sweep.py", schedule.source())
    assert_same_results(sweep, schedule.program, lines, sizes(16))


def test_jacobi_1d_is_tiled_in_time_and_space(golden: Golden) -> None:
    schedule = Schedule(jacobi_1d)
    merged(schedule, "i")
    schedule.skew("t", "i", 2)
    schedule.tile(["t", "i"], [4, 8])
    golden("rewrites/skew/jacobi_1d.py", schedule.source())

    def arguments(n: int) -> tuple[object, ...]:
        return np.arange(n) % 7.0, np.arange(n) % 3.0, 10

    assert_same_results(jacobi_1d, schedule.program, arguments, sizes(8))


def test_jacobi_2d_is_tiled_in_time_and_space(golden: Golden) -> None:
    schedule = Schedule(jacobi_2d)
    merged(schedule, "i", "j")
    schedule.skew("t", "i", 2)
    schedule.skew("t", "j", 2)
    schedule.tile(["t", "i", "j"], [3, 4, 5])
    golden("rewrites/skew/jacobi_2d.py", schedule.source())

    def arguments(n: int) -> tuple[object, ...]:
        a = np.arange(n * (n + 1.0)).reshape(n, n + 1) % 7.0
        return a, a % 3.0, 10

    assert_same_results(jacobi_2d, schedule.program, arguments, (0, 1, 2, 3, 4, 5, 11, 13))


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("factor", "code", "part"),
    [
        (0, "schedule.nothing-to-do", "a skew by 0"),
        (0.5, "schedule.bad-factor", "factor=0.5 is no integer"),
        (False, "schedule.bad-factor", "factor=False is no integer"),
        (None, "schedule.bad-factor", "factor=None is no integer"),
    ],
)
def test_bad_arguments(factor: object, code: str, part: str) -> None:
    before = program(SWEEP)
    error = refused(skew, before, *loops(before, "t", "i"), factor)
    assert error.code == code
    assert part in str(error)


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        (
            "def f(y):\n    for i in range(9):\n        for t in range(9):\n            y[t] = i\n",
            "schedule.not-nested",
            "the loop over i is not inside the loop over t",
        ),
        (
            "def f(y):\n    for t in range(9):\n        y[t] = 1\n"
            "    for i in range(9):\n        y[i] = 0\n",
            "schedule.not-nested",
            "not inside the loop over t",
        ),
        (
            "def f(y):\n    for t in range(9):\n        for i in range(9):\n            y[i] = t\n"
            "        t = 0\n",
            "schedule.variable-assigned",
            "assigns t itself",
        ),
        (
            "def f(y):\n    for t in range(9):\n        for i in range(9):\n"
            "            for t in range(3):\n                y[i] = t\n",
            "schedule.variable-assigned",
            "assigns t itself",
        ),
        (
            "def f(y):\n    for t in range(9):\n        for i in thread.x(9):\n"
            "            y[i] = t\n",
            "schedule.already-bound",
            "i is already thread.x",
        ),
        (
            "def f(y):\n    for t in range(9):\n        for i in y:\n            y[0] = i\n",
            "schedule.not-counted",
            "does not count over a range",
        ),
        (
            "def f(y):\n    for t in range(9):\n        for i in range(9):\n            y[i] = t\n"
            "        y[0] = i\n",
            "schedule.variable-live",
            "i is read outside",
        ),
    ],
)
def test_loops_that_cannot_be_skewed(text: str, code: str, part: str) -> None:
    before = program(text)
    error = refused(skew, before, loop(before, "t"), loop(before, "i"), 1)
    assert error.code == code
    assert part in str(error)
    assert error.diagnostic.span is not None


@pytest.mark.parametrize("factor", [None, 1, -2])
def test_too_small_a_skew_does_not_make_tiles_legal(factor: int | None) -> None:
    schedule = Schedule(jacobi_1d)
    merged(schedule, "i")
    if factor is not None:
        schedule.skew("t", "i", factor)
    with pytest.raises(IllegalSchedule):
        schedule.tile(["t", "i"], [4, 8])


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1, 3, -2])
def test_same_results(factor: int) -> None:
    before = program(SWEEP)
    after = rewritten(skew, before, *loops(before, "t", "i"), factor)
    assert_same_results(before, after, lines, sizes(4))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(
    st.integers(1, 4),
    st.integers(1, 6),
    st.lists(st.integers(-2, 2), min_size=1, max_size=3, unique=True),
    st.integers(0, 2),
)
def test_a_skew_by_the_furthest_read_lets_any_tiles_be_cut(
    tall: int, wide: int, offsets: list[int], more: int
) -> None:
    value = " + ".join(f"y[i + {each}]" for each in offsets)
    text = f"""
def f(y, steps):
    n = len(y)
    for t in range(steps):
        for i in range(2, n - 2):
            y[i] = {value} + 1
"""
    before = program(text)
    factor = max(map(abs, offsets)) + more
    schedule = Schedule(before)
    if factor:
        schedule.skew("t", "i", factor)
    schedule.tile(["t", "i"], [tall, wide])
    assert_same_results(
        before, schedule.program, lambda n: (np.arange(n) % 5.0, 5), (0, 1, 5, 6, 11)
    )


# --- trace --------------------------------------------------------------------------------------


def test_the_printed_script_replays() -> None:
    schedule = Schedule(jacobi_1d)
    merged(schedule, "i")
    schedule.skew("t", "i", 2)
    schedule.tile(["t", "i"], [4, 8])
    assert_replays(schedule)
