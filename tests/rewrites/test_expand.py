from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile.ir.module import module_text
from astile.rewrites.expand import expand
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
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

SUMS = """
def f(x, y):
    n, m = x.shape
    for i in range({bounds}):
        s = {start}
        for k in range(m):
            s += {value}
        y[i] = s
"""


def rows(n: int) -> tuple[object, ...]:
    return (np.arange(n * 4) % 7.0).reshape(n, 4), np.zeros(n)


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "start", "value"),
    [
        ("float", "0.0", "x[i, k]"),
        ("integer", "0", "x[i, k] * 2"),
        ("first", "x[i, 0]", "x[i, k]"),
        ("negative", "-1.5", "x[i, k] / 3"),
    ],
)
def test_types(golden: Golden, name: str, start: str, value: str) -> None:
    before = program(SUMS.format(bounds="n", start=start, value=value))
    after = rewritten(expand, before, "s", loops(before, "i"))
    golden(f"rewrites/expand/{name}.py", module_text(after))
    assert_proved(before, after)


def test_over_two_loops(golden: Golden) -> None:
    before = program("""
def f(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(1, m):
            t = x[i, j] - x[i, j - 1]
            y[i, j] = t * t
""")
    after = rewritten(expand, before, "t", loops(before, "i", "j"))
    golden("rewrites/expand/two_loops.py", module_text(after))
    assert_proved(before, after)


def test_a_type_of_numpy(golden: Golden) -> None:
    before = program("""
def f(x, y):
    for i in range(len(x)):
        t = np.float32(x[i])
        y[i] = t
""")
    after = rewritten(expand, before, "t", loops(before, "i"))
    golden("rewrites/expand/typed.py", module_text(after))
    assert_proved(before, after)


def test_triangles_get_the_longest_side(golden: Golden) -> None:
    before = program("""
def f(x, y):
    n = x.shape[0]
    for i in range(n):
        for j in range(i):
            t = x[i, j] * 2
            y[i, j] = t
""")
    after = rewritten(expand, before, "t", loops(before, "i", "j"))
    golden("rewrites/expand/triangle.py", module_text(after))
    assert_proved(before, after)


# --- refuses ------------------------------------------------------------------------------------


def test_no_such_scalar() -> None:
    before = program(SUMS.format(bounds="n", start="0.0", value="x[i, k]"))
    error = refused(expand, before, "t", loops(before, "i"))
    assert error.code == "schedule.no-such-scalar"
    assert "no scalar 't'" in str(error)


@pytest.mark.parametrize(
    ("start", "value"),
    [
        ("np.floor(x[i, 0])", "x[i, k]"),
        ("0.0", "np.floor(x[i, k])"),
        ("0.1", "x[i, k]"),
        ("-1e30", "x[i, k]"),
        ("1000", "x[i, k]"),
        ("x[i, 0] > 1", "x[i, k]"),
        ("x[i]", "x[i, k]"),
        ("np.float32(0.1)", "x[i, k]"),
        ("math.exp(0.5)", "x[i, k]"),
        ("math.exp(x[i, 0])", "x[i, k]"),
        ("0.0", "y[i] if k else x[i, k]"),
    ],
)
def test_an_unknown_type(start: str, value: str) -> None:
    before = program(SUMS.format(bounds="n", start=start, value=value))
    error = refused(expand, before, "s", loops(before, "i"))
    assert error.code == "schedule.unknown-type"
    assert "the scalar 's'" in str(error)


def test_a_number_of_pythons_own_says_how_to_give_it_a_type() -> None:
    before = program(SUMS.format(bounds="n", start="0.0", value="math.exp(x[i, k])"))
    error = refused(expand, before, "s", loops(before, "i"))
    assert "'s' is a number of Python's own, which no array holds as such" in str(error)
    assert "give s a type: `np.float32(...)` around all values" in str(error)
    after = SUMS.format(bounds="n", start="np.float32(0.0)", value="np.float32(math.exp(x[i, k]))")
    before = program(after)
    assert "np.empty(n, np.float32)" in module_text(
        rewritten(expand, before, "s", loops(before, "i"))
    )


def test_a_size_that_is_not_known() -> None:
    before = program("""
def f(x, p, y):
    for i in range(len(y)):
        for k in range(i * i):
            t = x[k]
            y[i] += t
""")
    error = refused(expand, before, "t", loops(before, "i", "k"))
    assert error.code == "schedule.bad-bounds"
    assert "the loop over k depends on i" in str(error)


def test_a_step_that_is_no_literal() -> None:
    before = program("""
def f(x, y, d):
    for i in range(0, len(y), d):
        t = x[i]
        y[i] = t
""")
    error = refused(expand, before, "t", loops(before, "i"))
    assert error.code == "schedule.not-counted"
    assert "the loop over i" in str(error)


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", ["n", "1, n", "n - 1, -1, -1", "0, n, 3", "n - 2"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_at_awkward_sizes(bounds: str, dtype: type) -> None:
    before = program(SUMS.format(bounds=bounds, start="0", value="x[i, k] * x[i, k]"))
    after = rewritten(expand, before, "s", loops(before, "i"))

    def arguments(n: int) -> tuple[object, ...]:
        x, y = rows(n)
        return np.asarray(x).astype(dtype), np.asarray(y).astype(dtype)

    assert_same_results(before, after, arguments, sizes(4))
    assert_proved(before, after)


# --- trace --------------------------------------------------------------------------------------


def squares(x, y):
    for i in range(len(x)):
        t = x[i] + 1
        y[i] = t * t


def test_the_printed_script_replays() -> None:
    schedule = Schedule(squares)
    schedule.expand("t", "i")
    assert_replays(schedule)
