from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule, ScheduleError
from astile.ir.module import module_text
from astile.rewrites.decompose_reduction import decompose_reduction
from astile.rewrites.reorder import reorder
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
    stage,
)

Golden = Callable[[str, str], None]

MATMUL = """
def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]
"""
CONDITION = """
def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            for k in range(K):
                if k == 0:
                    C[i, j] = 0
                C[i, j] += A[i, k] * B[k, j]
"""
TWO = """
def two(x, y, z):
    n, m = x.shape
    for i in range(n):
        y[i] = 0
        z[i] = 5
        for k in range(m):
            y[i] += x[i, k]
            z[i] = min(z[i], x[i, k])
"""
BORDER = """
def border(x, y):
    n, m = x.shape
    for i in range(n):
        if i < 3:
            y[i] = 7
        else:
            y[i] = x[i, 0]
        for k in range(1, m):
            y[i] += x[i, k]
"""
SCALAR = """
def rows(x, y):
    n, m = x.shape
    for i in range(n):
        s = 0.0
        for k in range(m):
            s += x[i, k]
        y[i] = s
"""
REPEATED = """
def repeated(x, y, T):
    n, m = x.shape
    for t in range(T):
        for i in range(n):
            y[i] = 0
            for k in range(m):
                y[i] += x[i, k]
"""


def matrices(n: int) -> tuple[object, ...]:
    a, b = np.arange(n * (n + 2)) % 7, np.arange((n + 2) * (n + 1)) % 5
    return a.reshape(n, n + 2), b.reshape(n + 2, n + 1), np.full((n, n + 1), 9)


def rows(n: int) -> tuple[object, ...]:
    return np.arange(n * (n + 1)).reshape(n, n + 1) % 7, np.full(n, 9)


def rows_twice(n: int) -> tuple[object, ...]:
    return (*rows(n), np.full(n, 9))


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize("at", ["i", "j"])
def test_before_any_loop_around_it(golden: Golden, at: str) -> None:
    before = program(MATMUL)
    after, made = applied(decompose_reduction, before, stage(before, "C"), loop(before, at))
    golden(f"rewrites/decompose_reduction/{at}.py", module_text(after))
    assert [after.loop(each).target.id for each in made] == ["i", "j"][at == "j" :]
    assert_proved(before, after)


def test_an_initialisation_under_a_condition(golden: Golden) -> None:
    before = program(CONDITION)
    after = rewritten(decompose_reduction, before, stage(before, "C"), loop(before, "i"))
    golden("rewrites/decompose_reduction/condition.py", module_text(after))
    assert_proved(before, after)
    before, [k_0, k_1] = applied(split, before, loop(before, "k"), [None, 4])
    order = [loop(before, "i"), k_0, loop(before, "j"), k_1]
    before = rewritten(reorder, before, order)
    after = rewritten(decompose_reduction, before, stage(before, "C"), loop(before, "i"))
    golden("rewrites/decompose_reduction/condition_split.py", module_text(after))
    assert_proved(program(CONDITION), after)


def test_a_tiled_reduction(golden: Golden) -> None:
    before = program(MATMUL)
    before, [i_0, _] = applied(split, before, loop(before, "i"), [None, 8])
    after = rewritten(decompose_reduction, before, stage(before, "C"), i_0)
    golden("rewrites/decompose_reduction/tiled.py", module_text(after))
    assert_proved(program(MATMUL), after)


def test_other_stages_stay(golden: Golden) -> None:
    before = program(TWO)
    after = rewritten(decompose_reduction, before, stage(before, "z"), loop(before, "i"))
    golden("rewrites/decompose_reduction/two.py", module_text(after))
    assert_proved(before, after)


def test_several_initial_values(golden: Golden) -> None:
    before = program(BORDER)
    after = rewritten(decompose_reduction, before, stage(before, "y"), loop(before, "i"))
    golden("rewrites/decompose_reduction/border.py", module_text(after))
    assert_proved(before, after)


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]


def test_the_parts_have_names() -> None:
    s = Schedule(matmul)
    made = s.decompose_reduction("C", "i")
    assert made == s.loops("C_init") == s.loops("C#0")
    assert s.loops("C_update") == s.loops("C#1")
    s.reorder(*s.loops("C_update")[::-1])
    with pytest.raises(ScheduleError, match="no stage named 'A_init'"):
        s.loops("A_init")


# --- refuses ------------------------------------------------------------------------------------


def test_not_inside_the_loop() -> None:
    before = program(TWO + "    for q in range(n):\n        x[q, 0] = 1\n")
    error = refused(decompose_reduction, before, stage(before, "y"), loop(before, "q"))
    assert error.code == "schedule.not-nested"
    assert "y is not computed inside the loop over q" in str(error)


def test_the_loop_that_is_reduced() -> None:
    before = program(MATMUL)
    error = refused(decompose_reduction, before, stage(before, "C"), loop(before, "k"))
    assert error.code == "schedule.no-reduction"
    assert "not initialised inside the loop over k" in str(error)


def test_no_update() -> None:
    before = program("def f(x, y):\n    for i in range(len(x)):\n        y[i] = x[i]\n")
    error = refused(decompose_reduction, before, stage(before, "y"), loop(before, "i"))
    assert error.code == "schedule.no-reduction"
    assert "not updated inside" in str(error)


def test_a_scalar() -> None:
    before = program(SCALAR)
    error = refused(decompose_reduction, before, stage(before, "s"), loop(before, "i"))
    assert error.code == "schedule.scalar"
    assert 'expand("s"' in str(error)
    assert error.diagnostic.span is not None


def test_inside_what_cannot_be_taken_apart() -> None:
    before = program("""
def f(x, y):
    for i in range(len(y)):
        k = 0
        y[i] = 0
        while x[i, k] > 0:
            y[i] += x[i, k]
            k = k + 1
""")
    error = refused(decompose_reduction, before, stage(before, "y"), loop(before, "i"))
    assert error.code == "schedule.not-counted"


def repeated(x, y, T):
    n, m = x.shape
    for t in range(T):
        for i in range(n):
            y[i] = 0
            for k in range(m):
                y[i] += x[i, k]


def test_a_reduction_that_starts_again_is_not_proved() -> None:
    s = Schedule(repeated)
    s.decompose_reduction("y", "i")
    s.undo()
    with pytest.raises(IllegalSchedule, match=r"y\[") as caught:
        s.decompose_reduction("y", "t")
    assert caught.value.array == "y"


def carried(x, y):
    n, m = x.shape
    for i in range(n - 1):
        y[i + 1] = y[i]
        for k in range(m):
            y[i] += x[i, k]
            y[i + 1] += 1


def test_values_that_come_from_other_iterations_stay() -> None:
    s = Schedule(carried)
    with pytest.raises(ScheduleError, match="not initialised"):
        s.decompose_reduction("y", "i")


def started_by_another(x, y, z):
    n, m = x.shape
    for i in range(n - 1):
        z[i] = x[i, 0]
        y[i] = z[i]
        for k in range(m):
            y[i] += x[i, k]
        z[i + 1] = y[i]


def test_an_initial_value_that_is_computed_there_is_not_proved() -> None:
    s = Schedule(started_by_another)
    with pytest.raises(IllegalSchedule, match=r"z\["):
        s.decompose_reduction("y", "i")


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [MATMUL, CONDITION])
@pytest.mark.parametrize("at", ["i", "j"])
def test_matrices_at_awkward_sizes(text: str, at: str) -> None:
    before = program(text)
    after = rewritten(decompose_reduction, before, stage(before, "C"), loop(before, at))
    assert_same_results(before, after, matrices, (0, 1, 2, 3, 5, 11))


def test_conditions_at_awkward_sizes() -> None:
    before, [k_0, k_1] = applied(
        split, program(CONDITION), loop(program(CONDITION), "k"), [None, 4]
    )
    before = rewritten(reorder, before, [k_0, loop(before, "i"), loop(before, "j"), k_1])
    after = rewritten(decompose_reduction, before, stage(before, "C"), k_0)

    def arguments(n: int) -> tuple[object, ...]:
        return np.ones((3, n), int), np.ones((n, 2), int), np.full((3, 2), 9)

    assert_same_results(program(CONDITION), after, arguments, (0, 1, 3, 4, 5, 11, 37))


def test_rows_at_awkward_sizes() -> None:
    before = program(BORDER)
    after = rewritten(decompose_reduction, before, stage(before, "y"), loop(before, "i"))
    assert_same_results(before, after, rows, (0, 1, 2, 3, 4, 11))
    before = program(TWO)
    after = rewritten(decompose_reduction, before, stage(before, "z"), loop(before, "i"))
    assert_same_results(before, after, rows_twice, (0, 1, 2, 3, 4, 11))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    st.integers(-2, 2),
    st.sampled_from([1, 2, -1]),
    st.sampled_from(["0", "x[i, 0]", "i"]),
    st.sampled_from(["+=", "*=", "-="]),
    st.sampled_from(["i", "j"]),
)
def test_any_start(first: int, step: int, value: str, operator: str, at: str) -> None:
    ends = f"{first}, m, {step}" if step > 0 else f"m - 1, {first}, {step}"
    text = f"""
def f(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(3):
            for k in range({ends}):
                if k == {first if step > 0 else "m - 1"}:
                    y[i, j] = {value}
                y[i, j] {operator} x[i, k] + j
"""
    before = program(text)
    after = rewritten(decompose_reduction, before, stage(before, "y"), loop(before, at))

    def arguments(n: int) -> tuple[object, ...]:
        return np.arange(2 * n).reshape(2, n) % 3, np.full((2, 3), 9)

    assert_same_results(before, after, arguments, (2, 3, 5))


# --- trace --------------------------------------------------------------------------------------


def test_the_printed_script_replays() -> None:
    s = Schedule(matmul)
    s.decompose_reduction("C", "j")
    assert s.steps[-1].call == "decompose_reduction('C', 'j')"
    assert_replays(s)
