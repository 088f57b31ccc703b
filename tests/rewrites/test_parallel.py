from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.rewrites.parallel import parallel
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

DOUBLE = """
def f(x, y):
    n = len(x)
    for i in {iterator}:
        y[i] = x[i] * 2
"""


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 1.0, np.zeros(n)


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "iterator"),
    [("plain", "range(n)"), ("stepped", "range(1, n, 2)"), ("falling", "range(n - 1, -1, -1)")],
)
def test_the_word_of_the_loop(golden: Golden, name: str, iterator: str) -> None:
    before = program(DOUBLE.format(iterator=iterator))
    after, made = applied(parallel, before, loop(before, "i"))
    golden(f"rewrites/parallel/{name}.py", module_text(after))
    assert made == (loop(before, "i"),)
    assert_proved(before, after)


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["thread.x", "block.y", "parallel", "vector", "unroll"])
def test_a_loop_that_has_a_kind(kind: str) -> None:
    before = program(DOUBLE.format(iterator=f"{kind}(n)"))
    error = refused(parallel, before, loop(before, "i"))
    assert error.code == "schedule.already-bound"
    assert f"i is already {kind}" in str(error)


def test_a_loop_over_no_range() -> None:
    before = program("def f(x, y):\n    for i in x:\n        y[0] = i\n")
    error = refused(parallel, before, loop(before, "i"))
    assert error.code == "schedule.not-counted"
    assert "does not count over a range" in str(error)


def test_a_loop_left_early() -> None:
    before = program("def f(y):\n    for i in range(4):\n        if y[i] > 1:\n            break\n")
    error = refused(parallel, before, loop(before, "i"))
    assert error.code == "schedule.not-counted"
    assert "the loop over i may be left early" in str(error)


@pytest.mark.parametrize(
    ("outer", "inner", "which"), [("block.x", "range", "j"), ("range", "thread.x", "i")]
)
def test_threads_of_the_cpu_and_of_a_gpu(outer: str, inner: str, which: str) -> None:
    before = program(f"""
def f(x):
    for i in {outer}(8):
        for j in {inner}(8):
            x[i, j] = 1
""")
    error = refused(parallel, before, loop(before, which))
    assert error.code == "schedule.bad-nesting"
    assert "not on both" in str(error)


def running_sum(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]


def test_iterations_that_need_each_other_are_refused_by_the_proof() -> None:
    schedule = Schedule(running_sum)
    with pytest.raises(IllegalSchedule) as caught:
        schedule.parallel("i")
    assert "x" in str(caught.value)
    assert caught.value.array == "x"
    assert not schedule.steps


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("iterator", ["range(n)", "range(1, n, 2)", "range(n - 1, -1, -1)"])
def test_at_awkward_sizes(iterator: str) -> None:
    before = program(DOUBLE.format(iterator=iterator))
    after = rewritten(parallel, before, loop(before, "i"))
    assert_same_results(before, after, vectors, sizes(4))


# --- trace --------------------------------------------------------------------------------------


def double(x, y):
    for i in range(len(x)):
        y[i] = x[i] * 2


def test_the_printed_script_replays() -> None:
    schedule = Schedule(double)
    _, inner = schedule.split("i", [None, 8])
    schedule.parallel(inner)
    assert_replays(schedule)
