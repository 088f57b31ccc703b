from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.ir.module import module_text
from astile.ir.program import Program
from astile.rewrites.compute_at import compute_at
from astile.rewrites.rolling_buffer import rolling_buffer
from astile.rewrites.set_scope import set_scope
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
from tests.support.staged import assert_emulates

Golden = Callable[[str, str], None]

BLUR = """
def blur(x, out):
    H, W = x.shape
    wide = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W - 2):
            wide[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = wide[i, j] + wide[i + 1, j] + wide[i + 2, j]
"""
CHAIN = """
def chain(x, y):
    n = len(x)
    a = np.empty(n)
    b = np.empty(n)
    for i in range(n):
        a[i] = x[i] * 2
    for i in range(1, n - 1):
        b[i] = a[i - 1] + a[i + 1]
    for i in range(2, n - 2):
        y[i] = b[i - 1] + b[i] + b[i + 1]
"""
LINE = """
def line(x, y):
    n = len(x)
    a = np.empty(n)
    for k in range(n):
        a[k] = x[k] * 2
    for i in range({start}, {stop}, {step}):
        y[i] = {value}
"""
SUMS = """
def sums(x, y):
    n, m = x.shape
    a = np.zeros(n)
    for i in range(n):
        for k in range(m):
            a[i] += x[i, k]
    for i in range(n - 1):
        y[i] = a[i] + a[i + 1]
"""


def line_text(value: str, start: object = 0, stop: object = "n - 2", step: int = 1) -> str:
    return LINE.format(value=value, start=start, stop=stop, step=step)


def interleaved(text: str, producer: str, variable: str, number: int = 0) -> tuple[Program, int]:
    """A program with a producer computed inside a loop."""
    before = program(text)
    at = loop(before, variable, number)
    return rewritten(compute_at, before, stage(before, producer), at), at


def images(n: int) -> tuple[object, ...]:
    x = (np.arange(n * (n + 3)) % 17).reshape(n, n + 3).astype(np.float32)
    return x, np.zeros((n, n + 3), np.float32)


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 3.0 % 7, np.zeros(n)


def rows(n: int) -> tuple[object, ...]:
    return np.arange(n * 4.0).reshape(n, 4), np.zeros(n)


# --- rewrites -----------------------------------------------------------------------------------


def test_rows_of_an_image(golden: Golden) -> None:
    before, at = interleaved(BLUR, "wide", "i", 1)
    after, made = applied(rolling_buffer, before, stage(before, "wide"), at)
    golden("rewrites/rolling_buffer/rows.py", module_text(after))
    assert [after.loop(each).target.id for each in made] == ["i_1", "j_1", "j_1"]
    assert_proved(program(BLUR), after)


def test_columns_of_an_image(golden: Golden) -> None:
    text = BLUR.replace("wide[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]", "wide[i, j] = x[i, j]")
    text = text.replace("wide[i + 1, j] + wide[i + 2, j]", "wide[i, j + 1]").replace(
        "W - 2", "W - 1"
    )
    text = text.replace(
        "for j in range(W - 1):\n            wide", "for j in range(W):\n            wide"
    )
    before, at = interleaved(text, "wide", "j", 1)
    after = rewritten(rolling_buffer, before, stage(before, "wide"), at)
    golden("rewrites/rolling_buffer/columns.py", module_text(after))
    assert_proved(program(text), after)


def test_inside_a_tile(golden: Golden) -> None:
    before = program(BLUR)
    before, [_, i_1] = applied(split, before, loop(before, "i", 1), [None, 8])
    before = rewritten(compute_at, before, stage(before, "wide"), i_1)
    after = rewritten(rolling_buffer, before, stage(before, "wide"), i_1)
    after = rewritten(set_scope, after, "wide", "local")
    golden("rewrites/rolling_buffer/tile.py", module_text(after))
    assert_proved(program(BLUR), after)


@pytest.mark.parametrize(
    ("name", "value", "stop"),
    [
        ("strided", "a[2 * i] + a[2 * i + 1] + a[2 * i + 2]", "(n - 1) // 2"),
        ("holes", "a[i] + a[i + 4]", "n - 4"),
        ("clamped", "a[max(i - 1, 0)] + a[min(i + 1, n - 1)]", "n"),
    ],
)
def test_windows(golden: Golden, name: str, value: str, stop: str) -> None:
    text = line_text(value, stop=stop)
    before, at = interleaved(text, "a", "i")
    after = rewritten(rolling_buffer, before, stage(before, "a"), at)
    golden(f"rewrites/rolling_buffer/{name}.py", module_text(after))
    assert_proved(program(text), after)


def test_a_reduction(golden: Golden) -> None:
    text = SUMS.replace("np.zeros(n)", "np.empty(n)").replace(
        "        for k in range(m):\n", "        a[i] = 0\n        for k in range(m):\n"
    )
    before, at = interleaved(text, "a", "i", 1)
    after = rewritten(rolling_buffer, before, stage(before, "a"), at)
    golden("rewrites/rolling_buffer/sums.py", module_text(after))
    assert_proved(program(text), after)


def test_a_chain(golden: Golden) -> None:
    before = program(CHAIN)
    at = loop(before, "i", 2)
    after = rewritten(compute_at, before, stage(before, "b"), at)
    after = rewritten(compute_at, after, stage(after, "a"), at)
    after = rewritten(rolling_buffer, after, stage(after, "a"), at)
    after = rewritten(rolling_buffer, after, stage(after, "b"), at)
    golden("rewrites/rolling_buffer/chain.py", module_text(after))
    assert_proved(before, after)
    assert_same_results(before, after, vectors, (0, 1, 2, 3, 4, 5, 6, 7, 13))


# --- refuses ------------------------------------------------------------------------------------


def test_not_computed_in_the_loop() -> None:
    before = program(BLUR)
    error = refused(rolling_buffer, before, stage(before, "wide"), loop(before, "i", 1))
    assert error.code == "schedule.not-nested"
    assert 'compute_at("wide", ...)' in str(error)


def test_not_read_in_the_loop() -> None:
    before = program(BLUR)
    error = refused(rolling_buffer, before, stage(before, "wide"), loop(before, "i"))
    assert error.code == "schedule.used-outside"
    assert "wide is used outside of the loop over i too" in str(error)
    text = "def f(x):\n    a = np.empty(9)\n    for i in range(9):\n"
    text += "        for k in range(1):\n            a[i] = x[i]\n"
    before = program(text)
    error = refused(rolling_buffer, before, stage(before, "a"), loop(before, "i"))
    assert error.code == "schedule.not-a-consumer"


@pytest.mark.parametrize(
    ("value", "start", "stop", "step"),
    [
        ("a[i]", 0, "n", 1),
        ("a[0] + a[1]", 0, "n", 1),
        ("a[2 * i] + a[2 * i + 1]", 0, "n // 2", 1),
        ("a[i] + a[i + 1]", 0, "n - 1", 2),
        ("a[i] + a[i + 1]", "n - 2", -1, -1),
        ("a[n - i - 1] + a[n - i - 2]", 0, "n - 1", 1),
        ("a[i] + a[n - i - 1]", 0, "n", 1),
    ],
)
def test_no_rows_are_needed_again(value: str, start: object, stop: object, step: int) -> None:
    before, at = interleaved(line_text(value, start, stop, step), "a", "i")
    error = refused(rolling_buffer, before, stage(before, "a"), at)
    assert error.code in ("schedule.no-window", "schedule.not-nested")
    assert "the loop over i" in str(error)


def test_allocated_in_the_loop() -> None:
    before, at = interleaved(BLUR, "wide", "i", 1)
    before = rewritten(set_scope, before, "wide", "local")
    error = refused(rolling_buffer, before, stage(before, "wide_local"), at)
    assert error.code == "schedule.inside-loop"
    assert "store_at" in str(error)


@pytest.mark.parametrize("kind", ["block.x", "parallel"])
def test_iterations_without_an_order(kind: str) -> None:
    before, at = interleaved(BLUR, "wide", "i", 1)
    before = before.cloned()
    node = before.loop(at)
    from astile.ir import nodes

    node.iter.func = nodes.attribute(*kind.split(".")) if "." in kind else nodes.name(kind)
    error = refused(rolling_buffer, before, stage(before, "wide"), at)
    assert error.code == "schedule.already-bound"
    assert f"is {kind}" in str(error)


def test_an_argument() -> None:
    before, at = interleaved(BLUR, "wide", "i", 1)
    error = refused(rolling_buffer, before, stage(before, "out"), at)
    assert error.code == "schedule.not-an-intermediate"


@pytest.mark.parametrize("use", ["return wide", "out[0, 0] = np.sum(wide)"])
def test_used_as_a_whole(use: str) -> None:
    before = program(BLUR + f"    {use}\n")
    error = refused(rolling_buffer, before, stage(before, "wide"), loop(before, "i", 1))
    assert error.code == "schedule.used-whole"


# --- keeps meaning ------------------------------------------------------------------------------


def test_images_at_awkward_sizes() -> None:
    before, at = interleaved(BLUR, "wide", "i", 1)
    after = rewritten(rolling_buffer, before, stage(before, "wide"), at)
    assert_same_results(program(BLUR), after, images, (0, 1, 2, 3, 4, 5, 11))
    for factor in (1, 2, 8):
        before = program(BLUR)
        before, [_, i_1] = applied(split, before, loop(before, "i", 1), [None, factor])
        before = rewritten(compute_at, before, stage(before, "wide"), i_1)
        after = rewritten(rolling_buffer, before, stage(before, "wide"), i_1)
        after = rewritten(set_scope, after, "wide", "shared" if factor == 0 else "local")
        assert_same_results(program(BLUR), after, images, (0, 1, 2, 3, 7, 8, 9, 10, 11, 19))


def blur(x, out):
    H, W = x.shape
    wide = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W - 2):
            wide[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = wide[i, j] + wide[i + 1, j] + wide[i + 2, j]


def test_each_row_is_computed_once_in_a_block() -> None:
    s = Schedule(blur)
    i_0, j_0, i_1, j_1 = s.tile(["out.i", "out.j"], [8, 4])
    s.compute_at("wide", i_1)
    s.rolling_buffer("wide", i_1)
    s.set_scope("wide", "shared")
    s.bind(i_0, "blockIdx.y")
    s.bind(j_0, "blockIdx.x")
    for each in s.loops():
        if each.var in ("j", j_1.var):
            s.bind(each, "threadIdx.x")
    assert_emulates(s, images, (1, 2, 3, 4, 9, 11))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=3, unique=True),
    st.sampled_from([1, 2]),
    st.sampled_from([1, 2]),
    st.integers(0, 3),
)
def test_any_window(window: list[int], stride: int, step: int, start: int) -> None:
    if max(window) - min(window) + 1 <= stride * step:
        window = [0, stride * step]
    value = " + ".join(f"a[{stride} * i + {each}]" for each in window)
    text = line_text(value, start, f"(n - {max(window)}) // {stride}", step)
    before, at = interleaved(text, "a", "i")
    after = rewritten(rolling_buffer, before, stage(before, "a"), at)
    assert_same_results(program(text), after, vectors, (0, 1, 4, 5, 6, 8, 13))
    assert_proved(program(text), after)


# --- trace --------------------------------------------------------------------------------------


def test_the_printed_script_replays() -> None:
    s = Schedule(blur)
    s.compute_at("wide", "out.i")
    s.rolling_buffer("wide", "i")
    assert s.steps[-1].call == "rolling_buffer('wide', 'i')"
    assert_replays(s)
