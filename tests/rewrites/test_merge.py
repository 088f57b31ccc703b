from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.rewrites.merge import merge
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loops,
    program,
    refused,
    rewritten,
    sizes,
)

Golden = Callable[[str, str], None]

TWO = """
def f(x, a, b):
    n = len(x)
    for i in range({first}):
        a[i] = x[i] * 2
    for k in range({second}):
        b[k] = a[k] + 1
"""


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 1.0, np.zeros(n), np.zeros(n)


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("same", "n", "n"),
        ("shorter", "n", "n - 1"),
        ("shifted", "n", "1, n - 1"),
        ("falling", "n - 1, -1, -1", "n - 1, 0, -1"),
        ("stepped", "0, n, 3", "0, n - 4, 3"),
    ],
)
def test_ranges(golden: Golden, name: str, first: str, second: str) -> None:
    before = program(TWO.format(first=first, second=second))
    after, made = applied(merge, before, *loops(before, "i", "k"))
    golden(f"rewrites/merge/{name}.py", module_text(after))
    assert len(made) == 1
    assert_proved(before, after)


# --- refuses ------------------------------------------------------------------------------------


def test_nested_loops() -> None:
    before = program("""
def f(x):
    for i in range(3):
        for k in range(3):
            x[i, k] = 1
""")
    error = refused(merge, before, *loops(before, "i", "k"))
    assert error.code == "schedule.not-siblings"
    assert "`fuse` loops that are nested" in str(error)


def test_the_wrong_way_round() -> None:
    before = program(TWO.format(first="n", second="n"))
    error = refused(merge, before, *loops(before, "k", "i"))
    assert error.code == "schedule.not-siblings"
    assert "stands after the second" in str(error)


def test_a_loop_with_itself() -> None:
    before = program(TWO.format(first="n", second="n"))
    assert refused(merge, before, *loops(before, "i", "i")).code == "schedule.not-siblings"


@pytest.mark.parametrize(
    ("first", "second"), [("n", "0, n, 2"), ("n", "n - 1, -1, -1"), ("0, n, 2", "1, n, 2")]
)
def test_other_values(first: str, second: str) -> None:
    before = program(TWO.format(first=first, second=second))
    error = refused(merge, before, *loops(before, "i", "k"))
    assert error.code == "schedule.bad-bounds"
    assert "do not step through the same values" in str(error)
    assert "both use a, which one of them writes" in str(error)
    assert ("`reverse` one of them" in str(error)) == second.endswith("-1")


def test_a_bound_loop() -> None:
    before = program(TWO.format(first="n", second="n").replace("k in range", "k in thread.x"))
    error = refused(merge, before, *loops(before, "i", "k"))
    assert error.code == "schedule.already-bound"
    assert "k is already thread.x" in str(error)


def test_a_variable_read_later() -> None:
    before = program(TWO.format(first="n", second="n") + "    b[0] = k\n")
    error = refused(merge, before, *loops(before, "i", "k"))
    assert error.code == "schedule.variable-live"
    assert "k is read outside" in str(error)


def backwards(x, a, b):
    for i in range(len(x) - 1):
        a[i] = x[i] * 2
    for k in range(len(x) - 1):
        b[k] = a[k + 1]


def test_a_value_that_is_not_there_yet_is_refused_by_the_proof() -> None:
    schedule = Schedule(backwards)
    with pytest.raises(IllegalSchedule) as caught:
        schedule.merge("i", "k")
    assert caught.value.array == "a"
    assert not schedule.steps


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("n", "n"),
        ("n", "n - 2"),
        ("n - 2", "n - 2"),
        ("n", "1, n"),
        ("n - 1, -1, -1", "n - 1, -1, -1"),
        ("1, n, 2", "1, n - 1, 2"),
    ],
)
def test_at_awkward_sizes(first: str, second: str) -> None:
    before = program(TWO.format(first=first, second=second))
    after = rewritten(merge, before, *loops(before, "i", "k"))
    assert_same_results(before, after, vectors, sizes(4))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(*[st.sampled_from(["0", "2", "n", "n - 3", "n // 2"]) for _ in range(4)])
def test_any_affine_ranges(a: str, b: str, c: str, d: str) -> None:
    before = program(f"""
def f(x, y, n):
    for i in range({a}, {b}):
        x[i + 5] += i
    for k in range({c}, {d}):
        y[k + 5] += k * 2
""")
    after = rewritten(merge, before, *loops(before, "i", "k"))
    assert_same_results(
        before, after, lambda n: (np.zeros(30, int), np.zeros(30, int), n), range(7)
    )


# --- trace --------------------------------------------------------------------------------------


def two(x, a, b):
    for i in range(len(x)):
        a[i] = x[i]
    for k in range(len(x)):
        b[k] = a[k] + 1


def test_the_printed_script_replays() -> None:
    schedule = Schedule(two)
    schedule.merge("i", "k")
    assert_replays(schedule)
