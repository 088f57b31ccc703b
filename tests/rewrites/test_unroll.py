from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile.ir.module import module_text
from astile.rewrites.unroll import unroll
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

SUM = """
def f(x, y):
    n = len(x)
    for i in range({bounds}):
        y[i] += x[i] * 2
"""


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n + 12) * 1.0, np.zeros(n + 12)


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bounds"), [("literal", "4"), ("started", "2, 12, 3"), ("falling", "9, -1, -1")]
)
def test_all_of_a_literal_loop(golden: Golden, name: str, bounds: str) -> None:
    before = program(SUM.format(bounds=bounds))
    after, made = applied(unroll, before, loop(before, "i"))
    golden(f"rewrites/unroll/{name}.py", module_text(after))
    assert made == (loop(before, "i"),)
    assert_proved(before, after)


def test_a_few_iterations_at_a_time(golden: Golden) -> None:
    before = program(SUM.format(bounds="n"))
    after, made = applied(unroll, before, loop(before, "i"), 4)
    golden("rewrites/unroll/factor.py", module_text(after))
    assert [after.loop(each).target.id for each in made] == ["i_0", "i_1"]
    assert_proved(before, after)


def test_a_length_known_from_outer_loops() -> None:
    before = program("""
def f(y):
    for i in range(len(y)):
        for k in range(i * 2, i * 2 + 2):
            y[i] += k
""")
    after = rewritten(unroll, before, loop(before, "k"))
    assert "for k in unroll(i * 2, i * 2 + 2):" in module_text(after)


# --- refuses ------------------------------------------------------------------------------------


def test_a_length_that_is_no_literal() -> None:
    before = program(SUM.format(bounds="n"))
    error = refused(unroll, before, loop(before, "i"))
    assert error.code == "schedule.not-literal"
    assert "the loop over i runs n times" in str(error)
    assert "unroll(loop, 4)" in str(error)


@pytest.mark.parametrize("factor", [0, -2, 2.5, True, "4"])
def test_a_bad_factor(factor: object) -> None:
    before = program(SUM.format(bounds="n"))
    error = refused(unroll, before, loop(before, "i"), factor)
    assert error.code == "schedule.bad-factor"
    assert repr(factor) in str(error)


def test_a_bound_loop() -> None:
    before = program(SUM.format(bounds="4").replace("range", "thread.x"))
    error = refused(unroll, before, loop(before, "i"))
    assert error.code == "schedule.already-bound"
    assert "i is already thread.x" in str(error)


def test_a_step_that_is_no_literal() -> None:
    before = program(SUM.format(bounds="0, 8, n"))
    error = refused(unroll, before, loop(before, "i"))
    assert error.code == "schedule.not-counted"
    assert "the loop over i" in str(error)


def test_a_loop_left_early() -> None:
    before = program(
        "def f(y):\n    for i in range(4):\n        if y[i] > 1:\n            return\n"
    )
    error = refused(unroll, before, loop(before, "i"))
    assert error.code == "schedule.not-counted"
    assert "may be left early" in str(error)


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", ["7", "3, 11, 2", "10, 0, -3"])
def test_literal_loops(bounds: str) -> None:
    before = program(SUM.format(bounds=bounds))
    after = rewritten(unroll, before, loop(before, "i"))
    assert_same_results(before, after, vectors, [0])


@pytest.mark.parametrize("bounds", ["n", "n - 1, -1, -1", "1, n - 3, 2"])
def test_factors(bounds: str) -> None:
    before = program(SUM.format(bounds=bounds))
    after = rewritten(unroll, before, loop(before, "i"), 4)
    assert_same_results(before, after, vectors, sizes(4))


# --- trace --------------------------------------------------------------------------------------


def double(x, y):
    for i in range(len(x)):
        y[i] = x[i] * 2


def test_the_printed_script_replays() -> None:
    schedule = Schedule(double)
    schedule.unroll("i", 4)
    assert_replays(schedule)
