from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.ir.module import module_text
from astile.rewrites.peel import peel
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
)

Golden = Callable[[str, str], None]

COPY = """
def copy(x, y):
    n = len(x)
    for i in range({0}):
        y[i] = x[i] + i
"""
EDGES = """
def edges(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[max(i - 1, 0), j] + x[min(i + 1, n - 1), j]
"""


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 3.0, np.zeros(n)


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bounds", "options"),
    [
        ("first", "n", {"first": 1}),
        ("last", "n", {"last": 1}),
        ("both", "1, n - 1", {"first": 1, "last": 1}),
        ("several", "n", {"first": 2, "last": 3}),
        ("falling", "n - 1, -1, -1", {"first": 1, "last": 1}),
        ("stepped", "0, n, 4", {"last": 1}),
        ("literal", "8", {"first": 1, "last": 2}),
        ("all", "3", {"first": 1, "last": 2}),
    ],
)
def test_ranges(golden: Golden, name: str, bounds: str, options: dict[str, int]) -> None:
    before = program(COPY.format(bounds))
    after = rewritten(peel, before, loop(before, "i"), **options)
    golden(f"rewrites/peel/{name}.py", module_text(after))
    assert_proved(before, after)


def test_loops_inside_are_copied(golden: Golden) -> None:
    before = program(EDGES)
    after, made = applied(peel, before, loop(before, "i"), first=1, last=1)
    golden("rewrites/peel/edges.py", module_text(after))
    assert made == (loop(before, "i"),)
    assert_proved(before, after)


def test_handles_stand_in_the_order_of_the_text() -> None:
    before = program(COPY.format("n"))
    after, made = applied(peel, before, loop(before, "i"), first=2, last=2)
    texts = [module_text(after).index(f"{start}") for start in ("range(2)", "(2, n - 2)", "(n - 2")]
    assert texts == sorted(texts)
    assert made[1] == loop(before, "i")
    assert len(made) == 3


def test_a_loop_that_is_taken_apart_says_so() -> None:
    before = program(COPY.format("2"))
    after, made = applied(peel, before, loop(before, "i"), first=1, last=1)
    assert made == ()
    assert "`peel` took all iterations of i" in after.gone[loop(before, "i")]


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code", "part"),
    [
        ({}, "schedule.bad-factor", "one at least"),
        ({"first": -1}, "schedule.bad-factor", "one at least"),
        ({"first": 2, "last": -1}, "schedule.bad-factor", "one at least"),
        ({"first": 0.5}, "schedule.bad-factor", "first=0.5 is no integer"),
        ({"last": True}, "schedule.bad-factor", "last=True is no integer"),
        ({"first": 4, "last": 2}, "schedule.bad-factor", "has only 5 iterations"),
    ],
)
def test_bad_arguments(options: dict[str, object], code: str, part: str) -> None:
    before = program(COPY.format("5"))
    error = refused(peel, before, loop(before, "i"), **options)
    assert error.code == code
    assert part in str(error)


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        (
            "def f(y, s):\n    for i in range(0, 9, s):\n        y[i] = i\n",
            "schedule.not-counted",
            "the step of the loop over i is no literal",
        ),
        (
            "def f(y):\n    for i in y:\n        y[0] = i\n",
            "schedule.not-counted",
            "does not count over a range",
        ),
        (
            "def f(y):\n    for i in block.x(9):\n        y[i] = i\n",
            "schedule.already-bound",
            "i is already block.x",
        ),
        (
            "def f(y):\n    for i in range(9):\n        y[i] = i\n    y[0] = i\n",
            "schedule.variable-live",
            "i is read outside",
        ),
        (
            "def f(y, n):\n    for i in range(n):\n        y[i] = i\n        n = n - 1\n",
            "schedule.bad-bounds",
            "changes n",
        ),
    ],
)
def test_loops_that_cannot_be_peeled(text: str, code: str, part: str) -> None:
    before = program(text)
    error = refused(peel, before, loop(before, "i"), first=1)
    assert error.code == code
    assert part in str(error)
    assert error.diagnostic.span is not None


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", ["n", "1, n - 1", "n - 1, -1, -1", "1, n, 3", "n - 2, 0, -2"])
@pytest.mark.parametrize("options", [{"first": 1}, {"last": 1}, {"first": 3, "last": 2}])
def test_same_results(bounds: str, options: dict[str, int]) -> None:
    before = program(COPY.format(bounds))
    after = rewritten(peel, before, loop(before, "i"), **options)
    assert_same_results(before, after, vectors, sizes(4))
    assert_proved(before, after)


def test_an_order_that_matters_is_kept() -> None:
    before = program("""
def f(y):
    for i in range(1, len(y)):
        y[i] = y[i - 1] * 2 + y[i]
""")
    after = rewritten(peel, before, loop(before, "i"), first=2, last=1)
    assert_same_results(before, after, lambda n: (np.arange(n * 1.0),), sizes(4))
    assert_proved(before, after)


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["n", "n - 4", "-n", "n // 2"]),
    st.sampled_from(["2 * n + 1", "0", "n // 3", "-2 * n"]),
    st.sampled_from([1, 3, -1, -2]),
    st.integers(0, 3),
    st.integers(1, 3),
)
def test_any_range(start: str, stop: str, step: int, first: int, last: int) -> None:
    before = program(f"""
def f(y, n):
    for i in range({start}, {stop}, {step}):
        y[0] = y[0] * 2 + i
        y[i + 100] += y[0]
""")
    after = rewritten(peel, before, loop(before, "i"), first=first, last=last)
    assert_same_results(before, after, lambda n: (np.zeros(200), n), (0, 1, 2, 3, 5, 8))


# --- trace --------------------------------------------------------------------------------------


def edges(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[max(i - 1, 0), j] + x[min(i + 1, n - 1), j]


def test_the_printed_script_replays() -> None:
    schedule = Schedule(edges)
    schedule.peel("i", first=1, last=2)
    schedule.peel("j#1", last=1)
    assert_replays(schedule)
