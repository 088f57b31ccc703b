from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.rewrites.specialize import specialize
from astile.rewrites.split import split
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
    for i in range(n):
        y[i] = x[i] + i
"""
STAGES = """
def stages(x, y, total):
    n, m = x.shape
    half = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            half[i, j] = x[i, j] / 2
    sums = np.zeros(n)
    scale = n * 2
    for i in range(n):
        for j in range(min(m, 8)):
            if j + 1 < m:
                sums[i] += half[i, j + 1]
        y[i] = sums[i] * scale
    total[0] = scale
    return sums
"""


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 3.0, np.zeros(n)


def tables(n: int) -> tuple[object, ...]:
    return np.arange(n * (n + 1.0)).reshape(n, n + 1), np.zeros(n), np.zeros(1)


def tiled(before: Program) -> Program:
    return rewritten(split, before, loop(before, "i"), [None, 16])


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("multiple", "n % 16 == 0"),
        ("equal", "n == 64"),
        ("least", "n >= 16 and not n % 16 > 0"),
        ("short", "len(x) <= 16"),
    ],
)
def test_bounds_and_guards_are_simplified_in_each_version(
    golden: Golden, name: str, condition: str
) -> None:
    before = program(COPY)
    after = rewritten(specialize, tiled(before), condition)
    golden(f"rewrites/specialize/{name}.py", module_text(after))
    assert_proved(before, after)


def test_all_loops_of_a_function(golden: Golden) -> None:
    before = program(STAGES)
    after = rewritten(specialize, before, "m > 8")
    golden("rewrites/specialize/stages.py", module_text(after))
    assert_proved(before, after)


def test_one_loop(golden: Golden) -> None:
    before = program(STAGES)
    after, made = applied(specialize, before, "m == 3", loop=loop(before, "i", 1))
    golden("rewrites/specialize/loop.py", module_text(after))
    assert [after.loop(each).target.id for each in made] == ["i", "j"]
    assert_proved(before, after)


def test_a_condition_on_the_loops_around() -> None:
    before = program("""
def f(x, y):
    n, m = y.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[max(i - 1, 0), j]
""")
    after = rewritten(specialize, before, "i > 0", loop=loop(before, "j"))
    assert "x[i - 1, j]" in module_text(after)
    assert "x[0, j]" in module_text(after)
    assert_proved(before, after)


def test_handles_stay_with_the_version_for_the_condition() -> None:
    before = program(COPY)
    after, made = applied(specialize, before, "n > 5")
    [branch] = [each for each in after.function.body if type(each).__name__ == "If"]
    then, otherwise = branch.body[0], branch.orelse[0]
    assert nodes.loop_id(then) == loop(before, "i")
    assert (nodes.loop_id(otherwise),) == made


def test_versions_of_a_version() -> None:
    schedule = Schedule(program(COPY))
    (other,) = schedule.specialize("n > 64")
    schedule.specialize("n % 4 == 0", loop=other)
    assert len([each for each in schedule.loops() if each.var == "i"]) == 3
    assert_same_results(schedule.original, schedule.program, vectors, (0, 4, 5, 64, 65, 66))


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "code", "part"),
    [
        ("n ==", "schedule.bad-condition", "it is no expression"),
        ("n = 3", "schedule.bad-condition", "it is no expression"),
        ("n; n", "schedule.bad-condition", "it is no expression"),
        ("", "schedule.bad-condition", "it is no expression"),
        (3, "schedule.bad-condition", "it is no text"),
        ("n > 0" + " and n > 0" * 99, "schedule.bad-condition", "too long"),
        ("n", "schedule.bad-condition", "compares no known integers"),
        ("k > 0", "schedule.bad-condition", "k is no known integer here"),
        ("i > 0", "schedule.bad-condition", "i is no known integer here"),
        ("n * n > 4", "schedule.bad-condition", "compares no known integers"),
        ("x[0] > 0", "schedule.bad-condition", "compares no known integers"),
        ("__import__('os').getpid() > 0", "schedule.bad-condition", "__import__ is no known"),
        ("print(n) > 0", "schedule.bad-condition", "print is no known integer"),
        ("(lambda: n)() > 0", "schedule.bad-condition", "compares no known integers"),
        ("n >= 0", "schedule.nothing-to-do", "'n >= 0' always holds here"),
        ("n < 0", "schedule.nothing-to-do", "'n < 0' never holds here"),
        ("True", "schedule.nothing-to-do", "'True' always holds"),
    ],
)
def test_bad_conditions(condition: object, code: str, part: str) -> None:
    before = program(COPY)
    error = refused(specialize, before, condition)
    assert error.code == code
    assert part in str(error)


def test_a_function_without_loops_has_nothing_to_specialize() -> None:
    error = refused(specialize, program("def f(y, n):\n    y[n] = 1\n"), "n > 0")
    assert error.code == "schedule.no-loop"


def test_a_loop_that_is_gone() -> None:
    before = program(COPY)
    error = refused(specialize, tiled(before), "n > 0", loop=loop(before, "i"))
    assert error.code == "schedule.loop-gone"


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", ["n % 4 == 0", "n > 4", "n == 37", "3 < n <= 11 or n == 0"])
def test_same_results(condition: str) -> None:
    before = program(COPY)
    after = rewritten(split, before, loop(before, "i"), [None, 4])
    after = rewritten(specialize, after, condition)
    assert_same_results(before, after, vectors, sizes(4))
    assert_proved(before, after)


@pytest.mark.parametrize("condition", ["m > 8", "n == 4 and m == 5", "n < m", "m % 2 == 1"])
def test_several_stages_give_the_same_results(condition: str) -> None:
    before = program(STAGES)
    after = rewritten(specialize, before, condition)
    assert_same_results(before, after, tables, sizes(8))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(["n", "n - m", "2 * m + 1", "n // 3", "n % 4", "min(n, m)", "-m"]),
    st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
    st.integers(0, 6),
    st.sampled_from([[None, 3], [None, 4]]),
)
def test_any_condition(left: str, operator: str, right: int, factors: list[int | None]) -> None:
    before = program("""
def f(y, n, m):
    for i in range(max(n - m, 0), n):
        y[i + 9] += min(i, m)
""")
    condition = f"{left} {operator} {right}"
    after = rewritten(split, before, loop(before, "i"), factors)
    try:
        after = rewritten(specialize, after, condition)
    except ScheduleError as error:
        if error.code != "schedule.nothing-to-do":
            raise
        return
    for m in (-1, 0, 2, 5):
        assert_same_results(before, after, lambda n, m=m: (np.zeros(40), n, m), range(8))


def test_no_made_guard_that_always_holds_is_left() -> None:
    before = program(COPY)
    after = rewritten(specialize, tiled(before), "n % 16 == 0")
    [branch] = [each for each in after.function.body if type(each).__name__ == "If"]
    inside = query.statements(branch.body[0])
    assert not any(type(each).__name__ == "If" for each in inside)


# --- trace --------------------------------------------------------------------------------------


def copy(x, y):
    n = len(x)
    for i in range(n):
        y[i] = x[i] + i


def test_the_printed_script_replays() -> None:
    schedule = Schedule(copy)
    (other,) = schedule.specialize("n % 16 == 0")
    schedule.split(other, [None, 16])
    schedule.specialize("n > 64", loop="i_0")
    assert_replays(schedule)
