from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.rewrites.compute_inline import compute_inline
from astile.rewrites.split import split
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    program,
    refused,
    rewritten,
    sizes,
    stage,
)

Golden = Callable[[str, str], None]

TYPED = """
def typed(x, y):
    n = len(y)
    a = np.{word}(n + 1, {dtype})
    for i in range(n + 1):
        a[i] = x[i] * 2.5
    for i in range(n):
        y[i] = a[i] + a[i + 1]
"""
CHAIN = """
def chain(x, y):
    n, m = x.shape
    turned = np.empty((m, n), dtype=x.dtype)
    sums = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            turned[j, i] = x[i, j]
    for i in range(n):
        for j in range(m - 1):
            sums[i, j] = turned[j, i] + turned[j + 1, i]
    for k in range(1, n):
        for l in range(m - 1):
            t = sums[k, l] * 3
            y[k, l] = t + sums[k - 1, l]
"""
TIMES = """
def times(x, y, steps):
    n = len(x)
    half = np.empty(n)
    for t in range(steps):
        for i in range(n):
            half[i] = x[i] / 2 + t
        for i in range(1, n):
            y[i] += half[i - 1] * half[i]
"""
ONE = """
def one(x, y):
    n = len(x)
    a = np.empty({shape}, np.float64)
    for i in range(n):
        {write}
    for i in range(n):
        {read}
"""


def inlined(before: Program, *names: str) -> Program:
    after = before
    for name in names:
        after = rewritten(compute_inline, after, stage(after, name))
    return after


def tables(n: int) -> tuple[object, ...]:
    return np.arange(n * (n + 1), dtype=np.float32).reshape(n, n + 1) / 7, np.zeros((n, n + 1))


# --- rewrites -----------------------------------------------------------------------------------


def test_a_value_is_rounded_as_its_array_rounded_it(golden: Golden) -> None:
    before = program(TYPED.format(word="empty", dtype="np.float32"))
    after = inlined(before, "a")
    golden("rewrites/compute_inline/typed.py", module_text(after))
    assert_proved(before, after)


@pytest.mark.parametrize(
    ("word", "dtype", "call"),
    [
        ("empty", "np.float64", "np.float64("),
        ("zeros", "dtype=np.int32", "np.int32("),
        ("empty", "dtype='float16'", "np.float16("),
        ("empty", "float", "np.float64("),
        ("empty", "dtype=int", "np.int64("),
        ("ones", "np.complex64", "np.complex64("),
    ],
)
def test_every_type_with_a_name(word: str, dtype: str, call: str) -> None:
    before = program(TYPED.format(word=word, dtype=dtype))
    after = inlined(before, "a")
    assert f"y[i] = {call}x[i] * 2.5) + {call}x[i + 1] * 2.5)" in module_text(after)
    assert_proved(before, after)
    kind = np.complex64 if "complex" in dtype else np.float64
    assert_same_results(
        before, after, lambda n: (np.arange(n + 1) / 3, np.zeros(n, kind)), sizes(3)
    )


def test_a_chain_of_stages_and_a_scalar(golden: Golden) -> None:
    before = program(CHAIN)
    after = inlined(before, "turned", "sums", "t")
    golden("rewrites/compute_inline/chain.py", module_text(after))
    assert_proved(before, after)


def test_loops_around_both_stay_as_they_are(golden: Golden) -> None:
    before = program(TIMES)
    after = inlined(before, "half")
    golden("rewrites/compute_inline/times.py", module_text(after))
    assert_proved(before, after)


def test_every_second_cell() -> None:
    before = program(ONE.format(shape="2 * n", write="a[2 * i] = x[i] + 1", read="y[i] = a[i * 2]"))
    after = inlined(before, "a")
    assert "y[i] = np.float64(x[i] + 1)" in module_text(after)
    assert_proved(before, after)


def test_a_cast_that_is_there_is_not_repeated() -> None:
    before = program(
        ONE.format(shape="n", write="a[i] = np.float64(x[i] + 1)", read="y[i] = a[i] * 2")
    )
    assert "y[i] = np.float64(x[i] + 1) * 2" in module_text(inlined(before, "a"))


def test_an_array_whose_shape_is_asked_for_stays() -> None:
    before = program(
        ONE.format(shape="n", write="a[i] = x[i] + 1", read="y[i] = a[i] + a.shape[0]")
    )
    after = inlined(before, "a")
    assert "a = np.empty(n, np.float64)" in module_text(after)
    assert_proved(before, after)


def test_steps_go_on_after_it() -> None:
    schedule = Schedule(program(CHAIN))
    for each in ("turned", "sums", "t"):
        schedule.compute_inline(each)
    outer = schedule.tile(["k", "l"], [4, 5])
    schedule.bind(outer[0], "blockIdx.x")
    schedule.bind(outer[3], "threadIdx.x")
    assert all(each.proof is not None for each in schedule.steps)
    assert_same_results(schedule.original, schedule.program, tables, sizes(4))
    assert "np.float64(" in schedule.source("cuda")


def test_the_loops_that_are_gone_say_so() -> None:
    before = program(CHAIN)
    after = inlined(before, "turned")
    assert "put turned where it is read" in after.gone[loop(before, "j")]


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "part"),
    [
        (
            ONE.format(shape="n", write="a[i] += x[i]", read="y[i] = a[i]"),
            "a",
            "no plain assignment",
        ),
        (
            ONE.format(shape="n", write="a[i] = a[i - 1] + x[i]", read="y[i] = a[i]"),
            "a",
            "a is computed from itself",
        ),
        (
            ONE.format(shape="n", write="a[i] = x[i]; a[i] = 2", read="y[i] = a[i]"),
            "a",
            "computed by 2 statements",
        ),
        (
            ONE.format(shape="n", write="a[i] = x[i]", read="a[i] = y[i]"),
            "a#0",
            "a is written elsewhere too",
        ),
        (
            ONE.format(shape="n", write="a[i] = x[i]", read="y[i] = a[i]"),
            "y",
            "y is an argument, which the caller reads",
        ),
        (
            ONE.format(shape="n", write="a[i] = x[i]", read="y[i] = x[i]"),
            "a",
            "nothing reads a",
        ),
        (
            ONE.format(shape="n", write="a[i] = x[i]", read="y[i] = sum(a)"),
            "a",
            "in a way that an expression cannot take the place of",
        ),
        (
            ONE.format(shape="n", write="a[i] = x[i]", read="y[0:2] = a[0:2]"),
            "a",
            "which iteration computed it",
        ),
        (
            ONE.format(
                shape="n", write="a[i] = x[i]", read="y[i] = 0\n        if a[i] > 0: y[i] = 1"
            ),
            "a",
            "in a way that an expression cannot take the place of",
        ),
        (
            ONE.format(shape="n", write="a[i // 2] = x[i]", read="y[i] = a[i]"),
            "a",
            "which iteration computed it",
        ),
        (
            ONE.format(shape="n", write="a[0] = x[i]", read="y[i] = a[0]"),
            "a",
            "which iteration computed it",
        ),
        (
            ONE.format(
                shape="n",
                write="if x[i] > 0: a[i] = x[i]",
                read="y[i] = a[i]",
            ),
            "a",
            "inside a statement that is kept whole",
        ),
    ],
)
def test_what_cannot_be_inlined(text: str, name: str, part: str) -> None:
    before = program(text)
    error = refused(compute_inline, before, stage(before, name))
    assert error.code == "schedule.not-inlined"
    assert part in str(error)
    assert error.diagnostic.span is not None


@pytest.mark.parametrize("dtype", ["x.dtype", "np.result_type(x, 0.0)"])
def test_a_type_without_a_name(dtype: str) -> None:
    before = program(TYPED.format(word="empty", dtype=dtype))
    error = refused(compute_inline, before, stage(before, "a"))
    assert error.code == "schedule.unknown-type"
    assert "storing a value in a may change it" in str(error)


def test_a_split_producer_comes_too_late() -> None:
    before = program(TYPED.format(word="empty", dtype="np.float32"))
    tiled = rewritten(split, before, loop(before, "i"), [None, 8])
    error = refused(compute_inline, tiled, stage(tiled, "a"))
    assert "inline before splitting" in str(error)


@pytest.mark.parametrize(
    ("write", "read", "array"),
    [
        ("a[i] = x[i]; x[i] = 0", "y[i] = a[i]", "x"),
        ("a[i] = y[i]", "y[i] = a[n - 1 - i] + 1", "y"),
        ("a[i] = x[i]", "x[i] = a[max(i - 1, 0)]", "x"),
    ],
)
def test_operands_that_change_in_between(write: str, read: str, array: str) -> None:
    schedule = Schedule(program(ONE.format(shape="n", write=write, read=read)))
    with pytest.raises(IllegalSchedule) as caught:
        schedule.compute_inline("a")
    assert caught.value.array == array
    assert schedule.steps == ()


@pytest.mark.parametrize(
    ("shape", "write", "read"),
    [
        ("n", "a[i] = 1", "y[i] = a[i - 1]"),
        ("n + 1", "a[i] = x[i]", "y[i] = a[i + 1]"),
        ("2 * n", "a[2 * i] = x[i]", "y[i] = a[i]"),
    ],
)
def test_cells_that_nobody_wrote(shape: str, write: str, read: str) -> None:
    text = ONE.format(shape=shape, write=write, read=read).replace("np.empty", "np.zeros")
    with pytest.raises(IllegalSchedule):
        Schedule(program(text)).compute_inline("a")


# --- keeps meaning ------------------------------------------------------------------------------


def test_same_results() -> None:
    before = program(CHAIN)
    after = before
    for name in ("turned", "sums", "t"):
        after = inlined(after, name)
        assert_same_results(before, after, tables, sizes(4))


def test_same_results_in_time() -> None:
    before = program(TIMES)
    after = inlined(before, "half")
    assert_same_results(before, after, lambda n: (np.arange(n * 1.0), np.zeros(n), 3), sizes(4))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["i, j", "j, i", "i + 1, j", "n - i, j + 2", "j, n - i"]),
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=3),
    st.sampled_from(["np.float32", "np.float64", "np.int16"]),
)
def test_any_place(place: str, offsets: list[tuple[int, int]], dtype: str) -> None:
    def cell(row: int, column: int) -> str:
        return ", ".join(
            part.replace("i", f"(i + {row})").replace("j", f"(j + {column})")
            for part in place.split(", ")
        )

    value = " - ".join(f"a[{cell(*each)}]" for each in offsets)
    before = program(f"""
def f(x, y):
    n, m = x.shape
    a = np.empty((n + m + 3, n + m + 3), {dtype})
    for i in range(n):
        for j in range(m):
            a[{place}] = x[i, j] / 3
    for i in range(n - 1):
        for j in range(m - 1):
            y[i, j] = {value}
""")
    after = inlined(before, "a")
    assert "a[" not in module_text(after)
    assert_proved(before, after)
    assert_same_results(before, after, tables, (0, 1, 2, 5))


# --- trace --------------------------------------------------------------------------------------


def blur(x, y):
    n = len(x)
    a = np.empty(n, np.float32)
    for i in range(n):
        a[i] = x[i] * 2
    for i in range(n - 1):
        y[i] = a[i] + a[i + 1]


def test_the_printed_script_replays() -> None:
    schedule = Schedule(blur)
    schedule.compute_inline("a")
    schedule.split("i", [None, 8])
    assert_replays(schedule)


def test_a_step_on_trust_forgets_what_was_inlined() -> None:
    schedule = Schedule(blur)
    schedule.compute_inline("a")
    schedule.reverse("i", unsafe=True)
    schedule.split("i", [None, 8])
    assert schedule.steps[-1].proof is not None
