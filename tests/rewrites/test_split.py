from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule, ScheduleError
from astile.frontend.build import build_from_source
from astile.ir import query
from astile.ir.module import module_text
from astile.ir.printer import print_expression
from astile.rewrites.split import split
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    program,
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
STEPPED = """
def f(y, n):
    for i in range({start}, {stop}, {step}):
        y[i + 100] += i
"""
SUMS = """
def sums(x, y):
    n, m = x.shape
    for i in range(n):
        s = 0.0
        for k in range(m):
            s += x[i, k]
        y[i] = s
"""


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 3.0, np.zeros(n)


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("guard", {"factors": [None, 16]}),
        ("cut", {"factors": [None, 16], "tail": "cut"}),
        ("three", {"factors": [None, 4, 8]}),
        ("named", {"factors": [None, 16], "names": ["outer", "lane"]}),
        ("none_inside", {"factors": [4, None]}),
    ],
)
def test_tails_and_factors(golden: Golden, name: str, options: dict[str, object]) -> None:
    before = program(COPY)
    after = rewritten(split, before, loop(before, "i"), **options)
    golden(f"rewrites/split/{name}.py", module_text(after))


def test_a_literal_range_that_divides_needs_no_guard(golden: Golden) -> None:
    before = program("def f(y):\n    for i in range(224):\n        y[i] = i\n")
    after = rewritten(split, before, loop(before, "i"), [None, 16])
    golden("rewrites/split/divides.py", module_text(after))
    assert_proved(before, after)


def test_perfect_where_the_size_is_a_multiple(golden: Golden) -> None:
    before = program("""
def f(y, m):
    n = 16 * m
    for i in range(n):
        y[i] = i
""")
    after = rewritten(split, before, loop(before, "i"), [None, 16], tail="perfect")
    golden("rewrites/split/perfect.py", module_text(after))
    assert_proved(before, after)


def test_a_reduction_keeps_its_order(golden: Golden) -> None:
    before = program(SUMS)
    after = rewritten(split, before, loop(before, "k"), [None, 8])
    golden("rewrites/split/reduction.py", module_text(after))
    assert_proved(before, after)


def test_handles_and_identities() -> None:
    before = program(COPY)
    after, made = applied(split, before, loop(before, "i"), [None, 4, 8])
    variables = [after.loop(each).target.id for each in made]
    assert variables == ["i_0", "i_1", "i_2"]
    assert after.loop(loop(before, "i")) is None
    assert "split" in after.gone[loop(before, "i")]


def test_numpy_integers_are_factors() -> None:
    before = program(COPY)
    once = rewritten(split, before, loop(before, "i"), [None, np.int64(16)])
    assert module_text(once) == module_text(rewritten(split, before, loop(before, "i"), [None, 16]))


def test_names_that_are_taken_get_a_number() -> None:
    before = program("""
def f(y, i_0):
    for i in range(len(y)):
        y[i] = i_0
""")
    after = rewritten(split, before, loop(before, "i"), [None, 16])
    assert "for i_0_1 in range(" in module_text(after)


@pytest.mark.parametrize("factors", [[4, 3, None], [4, None, 3], [None, 4, 3]])
def test_a_loop_that_counts_down_in_three(factors: list[int | None]) -> None:
    before = program("def f(x):\n    for i in range(len(x) - 1, 1, -2):\n        x[i] *= 2\n")
    after = rewritten(split, before, loop(before, "i"), factors)
    assert_proved(before, after)
    assert_same_results(before, after, lambda n: (np.arange(n),), (0, 1, 2, 12, 13, 27))


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code", "part"),
    [
        ({"factors": [16]}, "schedule.bad-factor", "two or more"),
        ({"factors": []}, "schedule.bad-factor", "two or more"),
        ({"factors": [None, None]}, "schedule.bad-factor", "at most one"),
        ({"factors": [None, 0]}, "schedule.bad-factor", "0 is no positive integer"),
        ({"factors": [None, -4]}, "schedule.bad-factor", "-4 is no positive integer"),
        ({"factors": [None, 2.5]}, "schedule.bad-factor", "2.5 is no positive integer"),
        ({"factors": [None, 1 << 31]}, "schedule.bad-factor", "at most 2147483647"),
        ({"factors": [None, True]}, "schedule.bad-factor", "True is no positive integer"),
        ({"factors": [None, "16"]}, "schedule.bad-factor", "'16' is no positive integer"),
        ({"factors": [4, 16]}, "schedule.bad-factor", "the factors make 64 iterations"),
        ({"factors": [None, 16], "tail": "mask"}, "schedule.bad-tail", "guard, cut"),
        ({"factors": [4, None], "tail": "cut"}, "schedule.bad-factor", "None as the first"),
        (
            {"factors": [None, 16], "tail": "perfect"},
            "schedule.not-perfect",
            "n times, which is not known to be a multiple of 16",
        ),
        ({"factors": [None, 16], "names": ["a"]}, "schedule.bad-name", "2 different names"),
        ({"factors": [None, 16], "names": ["a", "a"]}, "schedule.bad-name", "2 different names"),
        ({"factors": [None, 16], "names": ["a", "n"]}, "schedule.bad-name", "'n' cannot be used"),
        ({"factors": [None, 16], "names": ["a", "x"]}, "schedule.bad-name", "'x' cannot be used"),
        ({"factors": [None, 16], "names": ["a", "for"]}, "schedule.bad-name", "'for'"),
        ({"factors": [None, 16], "names": ["a", "len"]}, "schedule.bad-name", "'len'"),
        ({"factors": [None, 16], "names": ["a", "block"]}, "schedule.bad-name", "'block'"),
        ({"factors": [None, 16], "names": ["a", "b\nimport os"]}, "schedule.bad-name", "identif"),
        ({"factors": [None, 16], "names": ["a", "np"]}, "schedule.bad-name", "'np'"),
    ],
)
def test_bad_arguments(options: dict[str, object], code: str, part: str) -> None:
    before = program(COPY)
    with pytest.raises(ScheduleError) as caught:
        split(before, loop(before, "i"), **options)
    assert caught.value.code == code
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        (
            "def f(y, s):\n    for i in range(0, 9, s):\n        y[i] = i\n",
            "schedule.not-counted",
            "the loop over i",
        ),
        (
            "def f(y):\n    for i in range(0, 9, 0):\n        y[i] = i\n",
            "schedule.not-counted",
            "the loop over i",
        ),
        (
            "def f(y):\n    for i in y:\n        y[0] = i\n",
            "schedule.not-counted",
            "the loop over i does not count over a range",
        ),
        (
            "def f(y):\n    for i in range(9):\n        if y[i] > 0:\n            break\n",
            "schedule.not-counted",
            "the loop over i may be left early",
        ),
        (
            "def f(y):\n    for i in range(9):\n        if y[i] > 0:\n            continue\n",
            "schedule.not-counted",
            "may be left early",
        ),
        (
            "def f(y):\n    for i in range(9):\n        y[i] = i\n    else:\n        y[0] = 1\n",
            "schedule.not-counted",
            "the loop over i has an else",
        ),
        (
            "def f(y):\n    for i in range(9):\n        y[i] = i\n        i = 3\n",
            "schedule.variable-assigned",
            "the loop over i assigns i itself",
        ),
        (
            "def f(y):\n    for i in range(9):\n        y[i] = i\n    y[0] = i\n",
            "schedule.variable-live",
            "i is read outside",
        ),
        (
            "def f(y, n):\n    for i in range(n):\n        y[i] = i\n        n = n - 1\n",
            "schedule.bad-bounds",
            "the loop over i changes n",
        ),
        (
            "def f(y, p):\n    for i in range(p[0], p[1]):\n        p[i] = y[i]\n",
            "schedule.bad-bounds",
            "the loop over i changes p",
        ),
        (
            "def f(y, n):\n    for i in block.x(n):\n        y[i] = i\n",
            "schedule.already-bound",
            "i is already block.x",
        ),
    ],
)
def test_loops_that_cannot_be_split(text: str, code: str, part: str) -> None:
    before = program(text)
    with pytest.raises(ScheduleError) as caught:
        split(before, loop(before, "i"), [None, 4])
    assert caught.value.code == code
    assert part in str(caught.value)
    assert caught.value.diagnostic.span is not None


def test_a_loop_that_is_gone_says_what_became_of_it() -> None:
    before = program(COPY)
    after = rewritten(split, before, loop(before, "i"), [None, 16])
    with pytest.raises(ScheduleError, match="replaced i by i_0, i_1") as caught:
        split(after, loop(before, "i"), [None, 4])
    assert caught.value.code == "schedule.loop-gone"


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", ["guard", "cut"])
@pytest.mark.parametrize("factors", [[None, 1], [None, 5], [None, 3, 2], [None, 2, 1, 4]])
def test_same_results(tail: str, factors: list[int | None]) -> None:
    before = program(COPY)
    after = rewritten(split, before, loop(before, "i"), factors, tail=tail)
    assert_same_results(before, after, vectors, sizes(5))
    assert_proved(before, after)


@pytest.mark.parametrize("factors", [[4, None], [2, None, 3]])
def test_a_growing_factor_inside(factors: list[int | None]) -> None:
    before = program(COPY)
    after = rewritten(split, before, loop(before, "i"), factors)
    assert_same_results(before, after, vectors, sizes(5))


@pytest.mark.parametrize(("first", "second"), [(48, 32), (32, 10), (4, 3), (1, 1)])
@pytest.mark.parametrize("tails", [("guard", "guard"), ("cut", "guard"), ("guard", "cut")])
def test_splits_of_splits(first: int, second: int, tails: tuple[str, str]) -> None:
    before = program("""
def f(y):
    for i in range(len(y)):
        y[i] += i + 1
""")
    once, made = applied(split, before, loop(before, "i"), [None, first], tail=tails[0])
    for each in made:
        twice = rewritten(split, once, each, [None, second], tail=tails[1])
        assert_same_results(before, twice, lambda n: (np.zeros(n),), (0, 1, 31, 48, 49, 99, 103))
        assert_proved(before, twice)


# --- properties ---------------------------------------------------------------------------------

literals = st.integers(-9, 9)


@settings(max_examples=60, deadline=None)
@given(
    literals,
    literals,
    st.sampled_from([1, 2, 3, 7, -1, -2, -5]),
    st.integers(1, 6),
    st.sampled_from(["guard", "cut"]),
)
def test_any_literal_range(start: int, stop: int, step: int, factor: int, tail: str) -> None:
    before = program(STEPPED.format(start=start, stop=stop, step=step))
    after = rewritten(split, before, loop(before, "i"), [None, factor], tail=tail)
    assert_same_results(before, after, lambda n: (np.zeros(200), n), [0])


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["0", "n", "3", "n - 4", "-n", "n // 2"]),
    st.sampled_from(["n", "2 * n + 1", "0", "n - 3", "-n - 2"]),
    st.sampled_from([1, 3, -1, -2]),
    st.sampled_from([[None, 4], [3, None], [None, 2, 3], [2, None, 2]]),
    st.sampled_from(["guard", "cut"]),
)
def test_any_affine_range(
    start: str, stop: str, step: int, factors: list[int | None], tail: str
) -> None:
    before = program(STEPPED.format(start=start, stop=stop, step=step))
    tail = "guard" if factors[0] is not None else tail
    after = rewritten(split, before, loop(before, "i"), factors, tail=tail)
    assert_same_results(before, after, lambda n: (np.zeros(200), n), (0, 1, 2, 3, 5, 8, 13))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 40), st.integers(1, 7), st.integers(1, 7))
def test_factors_that_are_all_given_cover_the_range_or_are_refused(
    count: int, outer: int, inner: int
) -> None:
    before = program(f"def f(y, n):\n    for i in range({count}):\n        y[i] += i\n")
    if outer * inner < count:
        with pytest.raises(ScheduleError, match=f"make {outer * inner} iterations"):
            split(before, loop(before, "i"), [outer, inner])
        return
    after = rewritten(split, before, loop(before, "i"), [outer, inner])
    assert_same_results(before, after, lambda n: (np.zeros(50), n), [0])
    has_guard = any(type(each).__name__ == "If" for each in query.statements(after.function))
    assert has_guard == (count < outer * inner)


def test_bounds_read_as_written() -> None:
    before = program(STEPPED.format(start="n - 4", stop="2 * n", step=3))
    after, made = applied(split, before, loop(before, "i"), [None, 4])
    outer = after.loop(made[0])
    assert outer is not None
    assert print_expression(outer.iter) == "range((n + 3) // 12 + 1)"


def test_a_cell_counted_from_the_end_after_the_loop() -> None:
    text = "def f(y, n):\n    for i in range(len(y)):\n        y[i] = i * n\n    y[-1] = n\n"
    schedule = Schedule(build_from_source(text))
    schedule.split("i", [None, 2])
    assert schedule.steps[-1].proof is not None


REUSED = """
def f(y, n):
    for i in range(n):
        y[i] = i
    i = n - 1
    while i > 0:
        y[i] += y[i - 1]
        i -= 1
"""


def test_a_variable_that_is_given_another_value_after_the_loop() -> None:
    before = program(REUSED)
    after, _ = applied(split, before, loop(before, "i"), [None, 4])
    assert_same_results(before, after, lambda n: (np.zeros(50), n), sizes(4))


@pytest.mark.parametrize("last", ["i += 1\n    y[0] = i", "if n > 2:\n        i = 0\n    y[0] = i"])
def test_a_variable_that_is_read_after_the_loop(last: str) -> None:
    before = program(f"def f(y, n):\n    for i in range(n):\n        y[i] = i\n    {last}\n")
    with pytest.raises(ScheduleError) as caught:
        applied(split, before, loop(before, "i"), [None, 4])
    assert caught.value.code == "schedule.variable-live"


# --- trace --------------------------------------------------------------------------------------


def copy(x, y):
    n = len(x)
    for i in range(n):
        y[i] = x[i] + i


def test_the_printed_script_replays() -> None:
    schedule = Schedule(copy)
    outer, inner = schedule.split("i", [None, 48], names=["a", "b"])
    schedule.split(inner, [None, 32], tail="guard")
    schedule.split(outer, [None, 5], tail="cut")
    assert_replays(schedule)


def test_none_between_very_many_parts_is_hard_to_prove_and_the_refusal_says_so():
    """Dozens of parts are proved; of more, what to write instead is told, and proved at once."""
    text = "def f(A, B):\n    for i in range(A.shape[0]):\n        B[i] = A[i]\n"
    for parts in (1, 2, 4, 40):
        s = Schedule(build_from_source(text))
        s.split("i", [parts, None, 32])
        s.reorder("i_1", "i_0", "i_2")
    s = Schedule(build_from_source(text))
    s.split("i", [100, None, 32])
    with pytest.raises(IllegalSchedule) as refused:
        s.reorder("i_1", "i_0", "i_2")
    assert "i_0 is multiplied by a size" in str(refused.value)
    assert "put None before its factor" in str(refused.value)
    s = Schedule(build_from_source(text))
    s.split("i", [None, 100, 32])
    s.reorder("i_1", "i_0", "i_2")
