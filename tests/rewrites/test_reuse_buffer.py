from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.rewrites.reuse_buffer import reuse_buffer
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    assert_proved,
    assert_replays,
    assert_same_results,
    program,
    refused,
    rewritten,
)
from tests.support.programs import program_from
from tests.support.staged import assert_emulates

Golden = Callable[[str, str], None]

TWO = """
def two(x, y):
    n = len(x)
    for k in {loop}(n):
        {first}
        for i in {lanes}(8):
            a[i] = x[k, i]
        for i in {lanes}(8):
            y[k, i] = a[7 - i]
        {second}
        for i in {lanes}({size}):
            b[i] = y[k, i] * 2
        for i in {lanes}({size}):
            y[k, i] += b[{size} - 1 - i]
"""
FIRST = "a = shared.empty(8, np.float64)"
SECOND = "b = shared.empty(8, np.float64)"


def text_of(first: str = FIRST, second: str = SECOND, size: int = 8, loop: str = "range") -> str:
    lanes = "thread.x" if loop == "block.x" else "range"
    return TWO.format(first=first, second=second, size=size, loop=loop, lanes=lanes)


def arrays(n: int) -> tuple[object, ...]:
    return np.arange(n * 8.0).reshape(n, 8), np.full((n, 8), 9.0)


# --- rewrites -----------------------------------------------------------------------------------


def test_one_buffer_for_both(golden: Golden) -> None:
    before = program(text_of())
    after = rewritten(reuse_buffer, before, "a", "b")
    golden("rewrites/reuse_buffer/two.py", module_text(after))
    assert_proved(before, after)


def test_a_smaller_array() -> None:
    before = program(text_of(second="b = shared.empty(5, np.float64)", size=5))
    after = rewritten(reuse_buffer, before, "a", "b")
    assert "b[" not in module_text(after)
    assert_proved(before, after)


def test_a_type_that_names_the_array_that_goes() -> None:
    text = (
        text_of() + "        c = np.empty(1, b.dtype)\n        c[0] = 1\n        y[k, 0] += c[0]\n"
    )
    after = rewritten(reuse_buffer, program(text), "a", "b")
    assert "c = np.empty(1, a.dtype)" in module_text(after)


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("second", "why"),
    [
        ("b = local.empty(8, np.float64)", "b is local, a is shared"),
        ("b = shared.empty(8, np.float32)", "b and a are not known to have one type"),
        ("b = shared.empty(9, np.float64)", "b is not known to fit into a"),
        ("b = shared.empty(n, np.float64)", "b is not known to fit into a"),
        ("b = shared.zeros(8, np.float64)", "b is filled where it is made, by zeros"),
    ],
)
def test_arrays_that_are_not_alike(second: str, why: str) -> None:
    error = refused(reuse_buffer, program(text_of(second=second)), "a", "b")
    assert error.code == "schedule.not-alike"
    assert why in str(error)


def test_another_number_of_axes() -> None:
    text = text_of(second="b = shared.empty((8, 1), np.float64)")
    text = text.replace("b[i]", "b[i, 0]").replace("- i]\n", "- i, 0]\n")
    text = text.replace("a[7 - i, 0]", "a[7 - i]")
    assert "b has 2 axes, a has 1" in str(refused(reuse_buffer, program(text), "a", "b"))


def test_a_buffer_that_is_made_later() -> None:
    error = refused(reuse_buffer, program(text_of()), "b", "a")
    assert error.code == "schedule.not-nested"
    assert "b is not made before a" in str(error)


def test_itself() -> None:
    assert refused(reuse_buffer, program(text_of()), "a", "a").code == "schedule.nothing-to-do"


@pytest.mark.parametrize("names", [("x", "b"), ("a", "y")])
def test_arguments(names: tuple[str, str]) -> None:
    error = refused(reuse_buffer, program(text_of()), *names)
    assert error.code == "schedule.not-an-intermediate"


def test_no_such_array() -> None:
    assert refused(reuse_buffer, program(text_of()), "a", "c").code == "schedule.no-such-array"


def test_values_that_are_still_read() -> None:
    s = Schedule(program_from(text_of().replace("b[8 - 1 - i]", "b[7 - i] + a[i]")))
    with pytest.raises(IllegalSchedule) as caught:
        s.reuse_buffer("a", "b")
    assert caught.value.array == "a"
    assert s.steps == ()


# --- keeps meaning ------------------------------------------------------------------------------


def test_both_at_several_sizes() -> None:
    before = program(text_of())
    assert_same_results(before, rewritten(reuse_buffer, before, "a", "b"), arrays, (0, 1, 2, 7))


def test_threads_wait_before_they_overwrite() -> None:
    s = Schedule(program_from(text_of(loop="block.x")))
    before = s.source("cuda").count("cuda.syncthreads()")
    s.reuse_buffer("a", "b")
    assert s.source("cuda").count("cuda.syncthreads()") == before + 1
    assert_emulates(s, arrays, (1, 3))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 8), st.integers(0, 7), st.booleans())
def test_what_is_accepted_keeps_the_result(size: int, shift: int, again: bool) -> None:
    text = text_of(second=f"b = shared.empty({size}, np.float64)", size=size)
    if again:
        text = text.replace(f"b[{size} - 1 - i]", f"a[(i + {shift}) % 8]")
    s = Schedule(program_from(text))
    try:
        s.reuse_buffer("a", "b")
    except IllegalSchedule:
        return
    assert_same_results(s.original, s.program, arrays, (0, 2))


# --- trace --------------------------------------------------------------------------------------


def test_the_printed_script_replays() -> None:
    s = Schedule(program_from(text_of()))
    s.reuse_buffer("a", "b")
    assert s.steps[-1].call == "reuse_buffer('a', 'b')"
    assert_replays(s)
