from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.rewrites.reverse import reverse
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    load,
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


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 3.0, np.zeros(n)


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bounds"), [("up", "n"), ("down", "n - 1, -1, -1"), ("stepped", "1, n, 3")]
)
def test_ranges(golden: Golden, name: str, bounds: str) -> None:
    before = program(COPY.format(bounds))
    after, made = applied(reverse, before, loop(before, "i"))
    golden(f"rewrites/reverse/{name}.py", module_text(after))
    assert made == (loop(before, "i"),)
    assert_proved(before, after)


def test_twice_is_the_loop_as_it_was() -> None:
    before = program(COPY.format("2, n"))
    once = rewritten(reverse, before, loop(before, "i"))
    assert module_text(rewritten(reverse, once, loop(once, "i"))) == module_text(before)


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        (
            "def f(y):\n    for i in range(1):\n        y[i] = i\n",
            "schedule.nothing-to-do",
            "the loop over i has no second iteration",
        ),
        (
            "def f(y):\n    for i in range(5, 2):\n        y[i] = i\n",
            "schedule.nothing-to-do",
            "no second iteration",
        ),
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
            "def f(y):\n    for i in parallel(9):\n        y[i] = i\n",
            "schedule.already-bound",
            "i is already parallel",
        ),
        (
            "def f(y):\n    for i in range(9):\n        y[i] = i\n    y[0] = i\n",
            "schedule.variable-live",
            "i is read outside",
        ),
        (
            "def f(y):\n    for i in range(9):\n        if y[i] > 0:\n            break\n",
            "schedule.not-counted",
            "may be left early",
        ),
    ],
)
def test_loops_that_cannot_be_reversed(text: str, code: str, part: str) -> None:
    before = program(text)
    error = refused(reverse, before, loop(before, "i"))
    assert error.code == code
    assert part in str(error)
    assert error.diagnostic.span is not None


def prefix(x):
    for i in range(1, len(x)):
        x[i] = x[i] + x[i - 1]


def test_a_recurrence_is_not_legal() -> None:
    with pytest.raises(IllegalSchedule) as caught:
        Schedule(prefix).reverse("i")
    assert caught.value.array == "x"
    assert caught.value.witness.distance == (1,)


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", ["n", "n - 1, -1, -1", "1, n, 3", "n - 2, 0, -2"])
def test_same_results(bounds: str) -> None:
    before = program(COPY.format(bounds))
    after = rewritten(reverse, before, loop(before, "i"))
    assert_same_results(before, after, vectors, sizes(4))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["n", "n - 4", "-n", "n // 2"]),
    st.sampled_from(["2 * n + 1", "0", "n // 3", "-2 * n"]),
    st.sampled_from([1, 3, -1, -2]),
)
def test_iterations_run_backwards(start: str, stop: str, step: int) -> None:
    before = program(f"""
def f(y, n):
    for i in range({start}, {stop}, {step}):
        y[0] = y[0] + 1
        y[int(y[0])] = i
""")
    after = rewritten(reverse, before, loop(before, "i"))
    for n in range(8):
        first, second = (run(each, n) for each in (before, after))
        assert first == second[::-1]


def run(which, n: int) -> list[float]:
    y = np.zeros(40)
    load(which)(y, n)
    return list(y[1 : int(y[0]) + 1])


# --- trace --------------------------------------------------------------------------------------


def copy(x, y):
    n = len(x)
    for i in range(n):
        y[i] = x[i] + i


def test_the_printed_script_replays() -> None:
    schedule = Schedule(copy)
    schedule.reverse("i")
    schedule.split("i", [None, 8])
    assert_replays(schedule)
