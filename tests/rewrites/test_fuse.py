from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.ir.module import module_text
from astile.rewrites.fuse import fuse
from astile.rewrites.reorder import reorder
from astile.rewrites.split import split
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

NEST = """
def f(x, y):
    n, m = x.shape
    for i in range({i}):
        for j in range({j}):
            y[i, j] += x[i, j] * j
"""


def squares(n: int) -> tuple[object, ...]:
    x = (np.arange(n * (n + 2)) % 13.0).reshape(n, n + 2)
    return x, np.zeros((n, n + 2))


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "i", "j"),
    [
        ("literal", "8", "2, 10"),
        ("symbolic_outer", "n", "4"),
        ("symbolic_inner", "n", "m"),
        ("may_be_negative", "n - 2", "m - 2"),
        ("falling", "n - 1, -1, -1", "0, 7, 2"),
    ],
)
def test_ranges(golden: Golden, name: str, i: str, j: str) -> None:
    before = program(NEST.format(i=i, j=j))
    after = rewritten(fuse, before, loops(before, "i", "j"))
    golden(f"rewrites/fuse/{name}.py", module_text(after))
    if "m" not in j:
        assert_proved(before, after)


def test_three_loops(golden: Golden) -> None:
    before = program("""
def f(y):
    for i in range(len(y)):
        for j in range(3):
            for k in range(5):
                y[i, j, k] = i + j * k
""")
    after, made = applied(fuse, before, loops(before, "i", "j", "k"))
    golden("rewrites/fuse/three.py", module_text(after))
    assert [after.loop(each).target.id for each in made] == ["i_j_k_fused"]
    assert_proved(before, after)


def test_a_split_undone_has_no_division(golden: Golden) -> None:
    before = program("def f(y):\n    for i in range(len(y)):\n        y[i] = i\n")
    after, made = applied(split, before, loops(before, "i")[0], [None, 16])
    after = rewritten(fuse, after, made)
    golden("rewrites/fuse/split_undone.py", module_text(after))
    assert_proved(before, after)


def test_a_guard_between_moves_inside(golden: Golden) -> None:
    before = program(NEST.format(i="n", j="m"))
    split_once, [_, inner] = applied(split, before, loops(before, "i")[0], [None, 4])
    after = rewritten(fuse, split_once, [inner, *loops(split_once, "j")])
    golden("rewrites/fuse/guard_between.py", module_text(after))
    assert_proved(before, after)
    assert_same_results(before, after, squares, sizes(4))


def test_all_loops_of_a_tile_run_on_threads_along_one_axis() -> None:
    def plain(x, y):  # type: ignore[no-untyped-def]
        n, m = x.shape
        for i in range(n):
            for j in range(m):
                y[i, j] += x[i, j] * j

    s = Schedule(plain)
    *blocks, i, j = s.tile(["i", "j"], [3, 4])
    for loops_of_one, axis in ((blocks, "blockIdx.x"), ((i, j), "threadIdx.x")):
        s.bind(*s.fuse(*loops_of_one), axis)
    kernel = s.build("emulate")
    for n in (0, 1, 3, 5, 13):
        x, made = squares(n)
        expected = np.zeros_like(made)
        kernel(x, made)
        plain(x, expected)
        np.testing.assert_array_equal(made, expected)


# --- refuses ------------------------------------------------------------------------------------


def test_one_loop() -> None:
    before = program(NEST.format(i="n", j="m"))
    error = refused(fuse, before, loops(before, "i"))
    assert error.code == "schedule.bad-loops"
    assert "two or more loops" in str(error)


def test_the_wrong_way_round() -> None:
    before = program(NEST.format(i="n", j="m"))
    error = refused(fuse, before, loops(before, "j", "i"))
    assert error.code == "schedule.not-nested"
    assert "outermost first" in str(error)


def test_beside_each_other() -> None:
    before = program("""
def f(y):
    for i in range(3):
        y[i] = 1
    for j in range(3):
        y[j] = 2
""")
    error = refused(fuse, before, loops(before, "i", "j"))
    assert error.code == "schedule.not-nested"
    assert "over i and j" in str(error) or "over j and i" in str(error)


def test_a_loop_between() -> None:
    before = program("""
def f(y):
    for i in range(3):
        for j in range(3):
            for k in range(3):
                y[i, j, k] = 1
""")
    error = refused(fuse, before, loops(before, "i", "k"))
    assert error.code == "schedule.not-nested"
    assert "no other loop or condition between" in str(error)


def test_a_condition_of_the_function_between() -> None:
    text = NEST.format(i="n", j="m").replace("        for j", "        if i < 5:\n         for j")
    before = program(text)
    error = refused(fuse, before, loops(before, "i", "j"))
    assert error.code == "schedule.not-nested"


@pytest.mark.parametrize("place", ["before", "behind"])
def test_a_statement_beside(place: str) -> None:
    inner = "        for j in range(3):\n            y[i, j] = 1\n"
    beside = "        y[i, 0] = 2\n"
    body = beside + inner if place == "before" else inner + beside
    before = program("def f(y):\n    for i in range(3):\n" + body)
    error = refused(fuse, before, loops(before, "i", "j"))
    assert error.code == "schedule.not-perfect-nest"
    assert "inside i" in str(error)


def test_a_triangle() -> None:
    before = program(NEST.format(i="n", j="i"))
    error = refused(fuse, before, loops(before, "i", "j"))
    assert error.code == "schedule.bad-bounds"
    assert "the range of j depends on i" in str(error)


def test_a_bound_loop() -> None:
    before = program(NEST.format(i="n", j="m").replace("j in range", "j in thread.x"))
    error = refused(fuse, before, loops(before, "i", "j"))
    assert error.code == "schedule.already-bound"
    assert "j is already thread.x" in str(error)


def test_a_step_that_is_no_literal() -> None:
    before = program(NEST.format(i="n", j="0, m, n"))
    error = refused(fuse, before, loops(before, "i", "j"))
    assert error.code == "schedule.not-counted"
    assert "the loop over j" in str(error)


def test_a_variable_read_later() -> None:
    before = program(NEST.format(i="n", j="m") + "    y[0, 0] = j\n")
    error = refused(fuse, before, loops(before, "i", "j"))
    assert error.code == "schedule.variable-live"
    assert "j is read outside" in str(error)


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("i", "j"),
    [
        ("n", "m"),
        ("n - 2", "m - 2"),
        ("n - 3", "m - 4"),
        ("1, n", "m"),
        ("n - 1, -1, -1", "m - 1, -1, -2"),
        ("0, n, 3", "2, m"),
        ("n", "0"),
    ],
)
def test_at_awkward_sizes(i: str, j: str) -> None:
    before = program(NEST.format(i=i, j=j))
    after = rewritten(fuse, before, loops(before, "i", "j"))
    assert_same_results(before, after, squares, sizes(3))


def test_fused_after_a_reorder() -> None:
    before = program(NEST.format(i="n", j="4"))
    after = rewritten(reorder, before, loops(before, "j", "i"))
    after = rewritten(fuse, after, loops(after, "j", "i"))

    def arguments(n: int) -> tuple[object, ...]:
        return np.ones((n, 4)), np.zeros((n, 4))

    assert_same_results(before, after, arguments, sizes(3))


# --- properties ---------------------------------------------------------------------------------

literal = st.tuples(st.integers(-4, 4), st.integers(-4, 6), st.sampled_from([1, 2, -1, -3]))


@settings(max_examples=60, deadline=None)
@given(st.lists(literal, min_size=2, max_size=3))
def test_any_literal_ranges(ranges: list[tuple[int, int, int]]) -> None:
    lines = ["def f(y):"]
    names = [f"v{k}" for k in range(len(ranges))]
    for depth, (name, bounds) in enumerate(zip(names, ranges, strict=True)):
        lines.append("    " * (depth + 1) + f"for {name} in range{bounds}:")
    index = ", ".join(f"{name} + 9" for name in names)
    lines.append("    " * (len(ranges) + 1) + f"y[{index}] += {' * 7 + '.join(names)}")
    before = program("\n".join(lines) + "\n")
    after = rewritten(fuse, before, loops(before, *names))
    shape = (20,) * len(ranges)
    assert_same_results(before, after, lambda n: (np.zeros(shape),), [0])


# --- trace --------------------------------------------------------------------------------------


def fill(y):
    for i in range(len(y)):
        for j in range(12):
            y[i, j] = i + j


def test_the_printed_script_replays() -> None:
    schedule = Schedule(fill)
    [fused] = schedule.fuse("i", "j")
    schedule.split(fused, [None, 32])
    assert_replays(schedule)
