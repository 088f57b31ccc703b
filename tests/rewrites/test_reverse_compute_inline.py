from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.rewrites.reverse_compute_inline import reverse_compute_inline
from astile.rewrites.split import split
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    loops,
    program,
    refused,
    rewritten,
    sizes,
    stage,
)

Golden = Callable[[str, str], None]

CONV = """
def conv(x, w, bias, y):
    n, m = y.shape
    c = np.empty((n, m), np.float32)
    for i in range(n):
        for j in range(m):
            s = np.float32(0)
            for k in range(3):
                s += x[i, j + k] * w[k]
            c[i, j] = s
    for i in range(n):
        for j in range(m):
            y[i, j] = max(c[i, j] + bias[j], 0) * c[i, j]
"""
LINE = """
def line(x, y):
    n = len(x)
    a = np.empty(n + 2)
    for i in range({producer}):
        {write}
    for k in range({consumer}):
        {read}
"""


def images(n: int) -> tuple[object, ...]:
    x = np.arange(n * (n + 3.0)).reshape(n, n + 3) / 7
    return x, np.array([0.5, -1.0, 0.25]), np.arange(n + 1.0), np.zeros((n, n + 1))


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) / 3, np.ones(n)


# --- rewrites -----------------------------------------------------------------------------------


def test_an_epilogue_of_a_reduction(golden: Golden) -> None:
    before = program(CONV)
    after, made = applied(reverse_compute_inline, before, stage(before, "y"))
    golden("rewrites/reverse_compute_inline/conv.py", module_text(after))
    assert list(made) == loops(before, "i", "j")
    assert_proved(before, after)


@pytest.mark.parametrize(
    ("name", "producer", "write", "consumer", "read"),
    [
        ("part", "n", "a[i] = x[i] * 2", "2, n - 1", "y[k - 2] += a[k - 1]"),
        ("turned", "n", "a[n - i] = x[i] * 2", "1, n + 1", "y[k - 1] = a[k]"),
        ("steps", "n", "a[i] = x[i] * 2", "0, n, 3", "y[k] = a[k] + k"),
        ("falling", "n", "a[i] = x[i] * 2", "n - 1, -1, -1", "y[k] = a[k]"),
        ("several", "n", "a[i + 1] = x[i] + i", "n", "y[k] = a[k + 1] * a[1 + k]"),
    ],
)
def test_ranges(
    golden: Golden, name: str, producer: str, write: str, consumer: str, read: str
) -> None:
    before = program(LINE.format(producer=producer, write=write, consumer=consumer, read=read))
    after = rewritten(reverse_compute_inline, before, stage(before, "y"))
    golden(f"rewrites/reverse_compute_inline/{name}.py", module_text(after))
    assert_proved(before, after)
    assert_same_results(before, after, vectors, sizes(3))


def test_a_scalar_in_the_same_loop() -> None:
    before = program("""
def f(x, y):
    for i in range(len(x)):
        t = x[i] * 2
        y[i] = t + 1
""")
    after = rewritten(reverse_compute_inline, before, stage(before, "y"))
    assert "y[i] = x[i] * 2 + 1" in module_text(after)
    assert_proved(before, after)


def test_a_producer_that_is_split_already() -> None:
    before = program(CONV)
    after = rewritten(split, before, loop(before, "j"), [None, 8])
    after = rewritten(reverse_compute_inline, after, stage(after, "y"))
    assert "y[i, j_0 * 8 + j_1] = max(np.float32(s) +" in module_text(after)
    assert_proved(before, after)
    assert_same_results(before, after, images, sizes(8))


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("write", "read", "part"),
    [
        ("a[i] = x[i]", "y[k] = x[k]", "y reads nothing that one statement makes for it alone"),
        ("a[i] += x[i]", "y[k] = a[k]", "y reads nothing that one statement makes for it alone"),
        ("a[i] = x[i]; a[i] = 1", "y[k] = a[k]", "reads nothing that one statement makes"),
        ("a[i] = x[i]", "y[k] = a[k] + a[k + 1]", "reads more than one cell of a"),
        ("a[i] = x[i]", "y[k] = a[0]", "which iteration of y reads it"),
        ("a[i] = x[i]", "y[k] = a[k // 2]", "which iteration of y reads it"),
        ("a[i] = x[i]", "y[0:2] = a[k:2]", "which iteration of y reads it"),
        ("a[i] = x[i]", "y[k] = sum(a)", "reads more than one cell of a"),
        ("a[i] = x[i]", "y[k] = a[k]; y[k] = 1", "y is computed by 2 statements"),
    ],
)
def test_what_cannot_be_inlined(write: str, read: str, part: str) -> None:
    before = program(LINE.format(producer="n", write=write, consumer="n", read=read))
    error = refused(reverse_compute_inline, before, stage(before, "y"))
    assert error.code == "schedule.not-inlined"
    assert part in str(error)
    assert error.diagnostic.span is not None


def test_a_value_that_others_read_too_has_to_be_stored() -> None:
    before = program(
        LINE.format(producer="n", write="a[i] = x[i]", consumer="n", read="y[k] = a[k]")
        + "    for i in range(n):\n        x[i] = a[i]\n"
    )
    error = refused(reverse_compute_inline, before, stage(before, "y"))
    assert "a is read elsewhere too" in str(error)


def test_sizes_that_are_made_several_at_once() -> None:
    before = program("""
def f(x):
    n, m = x.shape
    x[n - 1, 0] *= 2
""")
    error = refused(reverse_compute_inline, before, stage(before, "x"))
    assert error.code == "schedule.not-inlined"


def test_several_producers() -> None:
    before = program("""
def f(x, y):
    n = len(x)
    a = np.empty(n)
    b = np.empty(n)
    for i in range(n):
        a[i] = x[i]
        b[i] = x[i]
    for i in range(n):
        y[i] = a[i] + b[i]
""")
    error = refused(reverse_compute_inline, before, stage(before, "y"))
    assert "reads what several statements make: a, b" in str(error)
    assert "`compute_inline` the others" in str(error)


def test_a_type_without_a_name() -> None:
    before = program(CONV.replace("np.float32)\n    for i", "x.dtype)\n    for i"))
    error = refused(reverse_compute_inline, before, stage(before, "y"))
    assert error.code == "schedule.unknown-type"


@pytest.mark.parametrize(
    ("producer", "consumer", "read"),
    [
        ("n - 1", "n", "y[k] = a[k]"),
        ("n", "n", "x[k] = a[k]"),
        ("n", "n", "y[0] = a[k] + y[0] / 2"),
    ],
)
def test_another_result_is_refused(producer: str, consumer: str, read: str) -> None:
    text = LINE.format(producer=producer, write="a[n - 1 - i] = x[i]", consumer=consumer, read=read)
    schedule = Schedule(program(text.replace("np.empty", "np.zeros")))
    with pytest.raises(IllegalSchedule):
        schedule.reverse_compute_inline(read[0])
    assert schedule.steps == ()


# --- keeps meaning ------------------------------------------------------------------------------


def test_same_results() -> None:
    before = program(CONV)
    after = rewritten(reverse_compute_inline, before, stage(before, "y"))
    assert_same_results(before, after, images, sizes(4))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["i", "i + 2", "n - i", "2 * i"]),
    st.sampled_from(["0", "2", "n", "n // 2"]),
    st.sampled_from(["n", "n + 1", "n - 2", "2 * n"]),
    st.sampled_from([1, 2, -1]),
)
def test_any_range_is_right_or_refused(cell: str, start: str, stop: str, step: int) -> None:
    before = program(f"""
def f(x, y):
    n = len(x)
    a = np.zeros(2 * n + 4, np.float32)
    for i in range(n):
        a[{cell}] = x[i] * 2
    for k in range({start}, {stop}, {step}):
        y[k] = a[k] + 1
""")
    schedule = Schedule(before)
    try:
        schedule.reverse_compute_inline("y")
    except IllegalSchedule:
        return
    assert_same_results(
        before, schedule.program, lambda n: (np.arange(n) / 3, np.zeros(2 * n + 4)), range(6)
    )


# --- trace --------------------------------------------------------------------------------------


def conv(x, w, bias, y):
    n, m = y.shape
    c = np.empty((n, m), np.float32)
    for i in range(n):
        for j in range(m):
            s = np.float32(0)
            for k in range(3):
                s += x[i, j + k] * w[k]
            c[i, j] = s
    for i in range(n):
        for j in range(m):
            y[i, j] = max(c[i, j] + bias[j], 0) * c[i, j]


def test_the_printed_script_replays() -> None:
    schedule = Schedule(conv)
    schedule.reverse_compute_inline("y")
    schedule.tile(["i", "j"], [4, 8])
    assert_replays(schedule)
