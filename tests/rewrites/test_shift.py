from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.rewrites.merge import merge
from astile.rewrites.shift import shift
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

BLUR = """
def blur(x, out):
    n, m = x.shape
    rows = np.empty((n, m - 2))
    for i in range(n):
        for j in range(m - 2):
            rows[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(n - 2):
        for j in range(m - 2):
            out[i, j] = rows[i, j] + rows[i + 1, j] + rows[i + 2, j]
"""
COPY = """
def copy(x, y):
    n = len(x)
    for i in range({0}):
        y[i] = x[i] + i
"""


def images(n: int) -> tuple[object, ...]:
    return np.arange((n + 2) * (n + 3.0)).reshape(n + 2, n + 3), np.zeros((n, n + 1))


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 3.0, np.zeros(n)


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bounds", "by"),
    [("ahead", "n", 2), ("back", "3, n", -3), ("down", "n - 1, -1, -1", 1), ("step", "0, n, 4", 1)],
)
def test_ranges(golden: Golden, name: str, bounds: str, by: int) -> None:
    before = program(COPY.format(bounds))
    after, made = applied(shift, before, loop(before, "i"), by)
    golden(f"rewrites/shift/{name}.py", module_text(after))
    assert made == (loop(before, "i"),)
    assert_proved(before, after)


def test_a_consumer_that_reads_ahead_follows_its_producer(golden: Golden) -> None:
    before = program(BLUR)
    after = rewritten(shift, before, loop(before, "i", 1), 2)
    after = rewritten(merge, after, *loops(after, "i#0", "i#1"))
    golden("rewrites/shift/blur.py", module_text(after))
    assert_proved(before, after)
    assert_same_results(before, after, images, sizes(3))


def test_numpy_integers_are_numbers() -> None:
    before = program(COPY.format("n"))
    texts = {
        module_text(rewritten(shift, before, loop(before, "i"), each)) for each in (2, np.int64(2))
    }
    assert len(texts) == 1


def test_there_and_back_is_the_loop_as_it_was() -> None:
    before = program(COPY.format("2, n"))
    there = rewritten(shift, before, loop(before, "i"), 5)
    back = rewritten(shift, there, loop(before, "i"), -5)
    assert module_text(back) == module_text(before)


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "code", "part"),
    [
        (0, "schedule.nothing-to-do", "a shift by 0"),
        (1.5, "schedule.bad-factor", "by=1.5 is no integer"),
        (True, "schedule.bad-factor", "by=True is no integer"),
        ("n", "schedule.bad-factor", "by='n' is no integer"),
    ],
)
def test_bad_arguments(by: object, code: str, part: str) -> None:
    before = program(COPY.format("n"))
    error = refused(shift, before, loop(before, "i"), by)
    assert error.code == code
    assert part in str(error)


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        (
            "def f(y):\n    for i in y:\n        y[0] = i\n",
            "schedule.not-counted",
            "does not count over a range",
        ),
        (
            "def f(y):\n    for i in vector(8):\n        y[i] = i\n",
            "schedule.already-bound",
            "i is already vector",
        ),
        (
            "def f(y):\n    for i in range(9):\n        y[i] = i\n        i = 3\n",
            "schedule.variable-assigned",
            "assigns i itself",
        ),
        (
            "def f(y):\n    for i in range(9):\n        y[i] = i\n    y[0] = i\n",
            "schedule.variable-live",
            "i is read outside",
        ),
    ],
)
def test_loops_that_cannot_be_shifted(text: str, code: str, part: str) -> None:
    before = program(text)
    error = refused(shift, before, loop(before, "i"), 1)
    assert error.code == code
    assert part in str(error)
    assert error.diagnostic.span is not None


def blur(x, out):
    n, m = x.shape
    rows = np.empty((n, m - 2))
    for i in range(n):
        for j in range(m - 2):
            rows[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(n - 2):
        for j in range(m - 2):
            out[i, j] = rows[i, j] + rows[i + 1, j] + rows[i + 2, j]


@pytest.mark.parametrize("by", [None, 1, -1])
def test_too_short_a_distance_does_not_make_the_merge_legal(by: int | None) -> None:
    schedule = Schedule(blur)
    if by is not None:
        schedule.shift("out.i", by)
    with pytest.raises(IllegalSchedule) as caught:
        schedule.merge("rows.i", "out.i")
    assert caught.value.array == "rows"


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", ["n", "3, n", "n - 1, -1, -1", "1, n, 3"])
@pytest.mark.parametrize("by", [4, -1])
def test_same_results(bounds: str, by: int) -> None:
    before = program(COPY.format(bounds))
    after = rewritten(shift, before, loop(before, "i"), by)
    assert_same_results(before, after, vectors, sizes(4))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3))
def test_a_merge_is_legal_from_the_distance_on_that_is_read_ahead(
    first: int, second: int, by: int
) -> None:
    before = program(f"""
def f(x, y):
    n = len(y)
    a = np.empty(n + 4)
    for i in range(n + 4):
        a[i] = x[i] * 2
    for i in range(n):
        y[i] = a[i + {first}] - a[i + {second}]
""")
    by = max(first, second) + by
    after = rewritten(shift, before, loop(before, "i", 1), by) if by else before
    after = rewritten(merge, after, *loops(after, "i#0", "i#1"))
    assert_proved(before, after)
    assert_same_results(before, after, lambda n: (np.arange(n + 4.0), np.zeros(n)), (0, 1, 3, 7))


# --- trace --------------------------------------------------------------------------------------


def test_the_printed_script_replays() -> None:
    schedule = Schedule(blur)
    schedule.shift("out.i", 2)
    schedule.merge("rows.i", "out.i")
    assert_replays(schedule)
