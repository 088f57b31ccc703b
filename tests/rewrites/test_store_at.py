from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.rewrites.compute_at import compute_at
from astile.rewrites.reorder import reorder
from astile.rewrites.set_scope import set_scope
from astile.rewrites.split import split
from astile.rewrites.store_at import store_at
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

BLUR = """
def blur(x, out):
    H, W = x.shape
    wide = {made}
    for i in range(H):
        for j in range(W - 2):
            wide[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = wide[i, j] + wide[i + 1, j] + wide[i + 2, j]
"""
EMPTY = "np.empty((H, W), np.float32)"


def tiled(made: str = EMPTY) -> tuple[Program, Program, list[int]]:
    """Blur, and blur with its producer computed in a tile of 8 x 4; the loops of the tile."""
    before = program(BLUR.format(made=made))
    after, [i_0, i_1] = applied(split, before, loop(before, "i", 1), [None, 8])
    after, [j_0, j_1] = applied(split, after, loop(after, "j", 1), [None, 4])
    after = rewritten(reorder, after, [i_0, j_0, i_1, j_1])
    after = rewritten(compute_at, after, stage(after, "wide"), j_0)
    return before, after, [i_0, j_0, i_1, j_1]


def images(n: int) -> tuple[object, ...]:
    x = (np.arange(n * (n + 3)) % 17).reshape(n, n + 3).astype(np.float32)
    return x, np.zeros((n, n + 3), np.float32)


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "number"), [("row_of_tiles", 0), ("tile", 1)])
def test_inwards(golden: Golden, name: str, number: int) -> None:
    before, after, outer = tiled()
    after = rewritten(store_at, after, stage(after, "wide"), outer[number])
    golden(f"rewrites/store_at/{name}.py", module_text(after))
    assert_proved(before, after)


def test_outwards(golden: Golden) -> None:
    before, after, [i_0, *_] = tiled()
    after = rewritten(set_scope, after, "wide", "shared")
    after = rewritten(store_at, after, stage(after, "wide_shared"), i_0)
    golden("rewrites/store_at/outwards.py", module_text(after))
    assert_proved(before, after)


def test_in_steps() -> None:
    before, after, [i_0, j_0, *_] = tiled()
    after = rewritten(store_at, after, stage(after, "wide"), i_0)
    after = rewritten(store_at, after, stage(after, "wide"), j_0)
    assert_proved(before, after)
    direct = tiled()[1]
    direct = rewritten(store_at, direct, stage(direct, "wide"), j_0)
    assert module_text(after) == module_text(direct)


@pytest.mark.parametrize(
    ("made", "word"),
    [
        ("np.empty((H, W))", "np.empty((10, 4), np.float64)"),
        ("np.zeros((H, W), np.float32)", "np.zeros((10, 4), np.float32)"),
        ("np.empty_like(x)", "np.empty((10, 4), x.dtype)"),
    ],
)
def test_the_kind_of_array_stays(made: str, word: str) -> None:
    before, after, [_, j_0, *_] = tiled(made)
    after = rewritten(store_at, after, stage(after, "wide"), j_0)
    assert f"wide = {word}" in module_text(after)
    assert_proved(before, after)


# --- refuses ------------------------------------------------------------------------------------


def test_there_already() -> None:
    _, after, [i_0, *_] = tiled()
    after = rewritten(store_at, after, stage(after, "wide"), i_0)
    error = refused(store_at, after, stage(after, "wide"), i_0)
    assert error.code == "schedule.nothing-to-do"
    assert "wide lives in the body of the loop over i_0 already" in str(error)


def test_used_outside_of_the_loop() -> None:
    before = program(BLUR.format(made=EMPTY))
    error = refused(store_at, before, stage(before, "wide"), loop(before, "i", 1))
    assert error.code == "schedule.used-outside"
    assert "wide is used outside of the loop over i too" in str(error)
    assert error.diagnostic.span is not None


def test_not_used_in_the_loop() -> None:
    before = program(BLUR.format(made=EMPTY) + "    for q in range(H):\n        x[q, 0] = 0\n")
    error = refused(store_at, before, stage(before, "wide"), loop(before, "q"))
    assert error.code == "schedule.used-outside"
    assert "nothing in the loop over q uses wide" in str(error)


@pytest.mark.parametrize("name", ["out", "H"])
def test_no_intermediate(name: str) -> None:
    _, after, [_, j_0, *_] = tiled()
    error = refused(store_at, after, stage(after, name), j_0)
    assert error.code in ("schedule.not-an-intermediate", "schedule.no-such-array")


@pytest.mark.parametrize("use", ["return wide", "out[0, 0] = wide.shape[0]", "g(wide[0])"])
def test_used_as_a_whole(use: str) -> None:
    before = program(BLUR.format(made=EMPTY) + f"    {use}\n")
    error = refused(store_at, before, stage(before, "wide"), loop(before, "i", 1))
    assert error.code == "schedule.used-whole"


def test_a_region_that_is_not_known() -> None:
    before = program("""
def f(x, p, y):
    a = np.empty(100)
    for i in range(len(y)):
        for k in range(3):
            a[k * k] = x[i] * p[k]
        y[i] = a[4]
""")
    error = refused(store_at, before, stage(before, "a"), loop(before, "i"))
    assert error.code == "schedule.not-literal"


def test_shared_memory_inside_threads() -> None:
    before = program("""
def f(x, y):
    a = shared.empty((8, 8), np.float32)
    for i in thread.x(8):
        for k in range(8):
            a[i, k] = x[i, k]
        for k in range(8):
            y[i, k] = a[i, 7 - k]
""")
    error = refused(store_at, before, stage(before, "a"), loop(before, "i"))
    assert error.code == "schedule.inside-threads"


def test_outwards_with_a_shape_that_changes() -> None:
    before = program("""
def f(x, y):
    for i in range(4):
        for k in range(8):
            a = local.empty(k + 1, np.float32)
            for q in range(k + 1):
                a[q] = x[i, q]
            y[i, k] = a[k]
""")
    error = refused(store_at, before, stage(before, "a"), loop(before, "i"))
    assert error.code == "schedule.bad-bounds"
    assert "depends on k, which the loops inside the loop over i change" in str(error)


def test_outwards_when_filled_anew() -> None:
    before = program("""
def f(x, y):
    for i in range(4):
        for k in range(8):
            a = np.zeros(3)
            for q in range(k):
                a[q % 3] += x[i, q]
            y[i, k] = a[0]
""")
    error = refused(store_at, before, stage(before, "a"), loop(before, "i"))
    assert error.code == "schedule.filled"


def kept(x, y):
    a = np.zeros(len(x))
    for i in range(len(x)):
        a[i] += x[i]
        if i > 0:
            y[i] = a[i] + a[i - 1]


def test_values_of_earlier_iterations_are_missed() -> None:
    s = Schedule(kept)
    with pytest.raises(IllegalSchedule, match=r"a\["):
        s.store_at("a", "i")


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("made", [EMPTY, "np.zeros((H, W), np.float32)"])
def test_inwards_at_awkward_sizes(number: int, made: str) -> None:
    before, after, outer = tiled(made)
    after = rewritten(store_at, after, stage(after, "wide"), outer[number])
    assert_same_results(before, after, images, (0, 1, 2, 3, 7, 8, 9, 10, 11, 19))


def test_outwards_at_awkward_sizes() -> None:
    before, after, [i_0, *_] = tiled()
    after = rewritten(set_scope, after, "wide", "shared")
    after = rewritten(store_at, after, stage(after, "wide_shared"), i_0)
    assert_same_results(before, after, images, (0, 1, 2, 3, 7, 8, 9, 10, 11, 19))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(-2, 2), min_size=1, max_size=3, unique=True),
    st.sampled_from([1, 2]),
    st.sampled_from([1, 3, 4]),
    st.booleans(),
)
def test_any_window(window: list[int], stride: int, tile: int, inner: bool) -> None:
    value = " + ".join(f"a[{stride} * i + {each}]" for each in window)
    text = f"""
def f(x, y):
    n = len(x)
    a = np.empty(n)
    for k in range(n):
        a[k] = x[k] * 2
    for i in range(2, (n - 2) // {stride}):
        y[i] = {value}
"""
    before = program(text)
    after, [i_0, i_1] = applied(split, before, loop(before, "i"), [None, tile])
    after = rewritten(compute_at, after, stage(after, "a"), i_1 if inner else i_0)
    after = rewritten(store_at, after, stage(after, "a"), i_0)

    def arguments(n: int) -> tuple[object, ...]:
        return np.arange(n) * 3.0, np.zeros(n)

    assert_same_results(before, after, arguments, (0, 1, 2, 3, 5, 8, 13))
    assert_proved(before, after)


# --- trace --------------------------------------------------------------------------------------


def blur(x, out):
    H, W = x.shape
    wide = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W - 2):
            wide[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = wide[i, j] + wide[i + 1, j] + wide[i + 2, j]


def test_the_printed_script_replays() -> None:
    s = Schedule(blur)
    i_0, i_1 = s.split("out.i", [None, 8])
    s.compute_at("wide", i_1)
    s.store_at("wide", i_0)
    assert s.steps[-1].call == "store_at('wide', 'i_0')"
    assert_replays(s)
