from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import ScheduleError
from astile.ir.module import module_text
from astile.rewrites.storage_align import storage_align
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    assert_proved,
    assert_replays,
    assert_same_results,
    program,
    refused,
    rewritten,
)
from tests.support.staged import assert_emulates, bind_threads, cuda_text

Golden = Callable[[str, str], None]

TRANSPOSED = """
def transposed(x, y):
    n, m = x.shape
    for i_0 in range((n + 31) // 32):
        for j_0 in range((m + 31) // 32):
            tile = shared.empty({shape}, x.dtype)
            for i_1 in range(32):
                for j_1 in range(32):
                    if i_0 * 32 + i_1 < n and j_0 * 32 + j_1 < m:
                        tile[i_1, j_1] = x[i_0 * 32 + i_1, j_0 * 32 + j_1]
            for j_1 in range(32):
                for i_1 in range(32):
                    if i_0 * 32 + i_1 < n and j_0 * 32 + j_1 < m:
                        y[j_0 * 32 + j_1, i_0 * 32 + i_1] = tile[i_1, j_1]
"""
GLOBAL = """
def f(x, y):
    n, m = x.shape
    a = {made}
    for i in range(n):
        for j in range(m):
            a[i, j] = x[i, j] * 2
    for i in range(n):
        for j in range(m):
            y[j, i] = a[i, j]
"""


def images(n: int) -> tuple[object, ...]:
    return np.arange(n * (n + 3)).reshape(n, n + 3), np.zeros((n + 3, n), np.int64)


# --- rewrites -----------------------------------------------------------------------------------


def test_rows_in_different_banks(golden: Golden) -> None:
    before = program(TRANSPOSED.format(shape="(32, 32)"))
    after = rewritten(storage_align, before, "tile", 0, 32, 1)
    golden("rewrites/storage_align/rows.py", module_text(after))
    assert_proved(before, after)


@pytest.mark.parametrize(
    ("axis", "factor", "offset", "shape"),
    [
        (0, 16, 0, None),
        (0, 32, 8, "(4, 5, 8)"),
        (1, 32, 1, "(4, 2, 33)"),
        (-2, 16, 0, "(4, 2, 16)"),
        (-3, 1, 0, None),
        (1, 8, 3, "(4, 2, 11)"),
    ],
)
def test_any_axis(axis: int, factor: int, offset: int, shape: str | None) -> None:
    before = program("""
def f(x):
    t = local.empty((4, 2, 8), np.float32)
    t[3, 1, 7] = x[0]
    x[1] = t[3, 1, 7]
""")
    if shape is None:
        assert refused(storage_align, before, "t", axis, factor, offset).code == (
            "schedule.nothing-to-do"
        )
        return
    after = rewritten(storage_align, before, "t", axis, factor, offset)
    assert f"local.empty({shape}, np.float32)" in module_text(after)
    assert_proved(before, after)


@pytest.mark.parametrize(
    ("made", "padded"),
    [
        ("np.empty((n, m))", "np.empty((n, m + (1 - m) % 32), np.float64)"),
        ("np.zeros((n, m), np.int64)", "np.zeros((n, m + (1 - m) % 32), np.int64)"),
        ("np.empty_like(x)", "np.empty((n, m + (1 - m) % 32), x.dtype)"),
    ],
)
def test_symbolic_extents(made: str, padded: str) -> None:
    before = program(GLOBAL.format(made=made))
    after = rewritten(storage_align, before, "a", 0, 32, 1)
    assert padded in module_text(after)
    assert_proved(before, after)
    assert_same_results(before, after, images, (0, 1, 31, 32, 33))


# --- refuses ------------------------------------------------------------------------------------


def test_far_apart_already() -> None:
    before = program(TRANSPOSED.format(shape="(32, 33)"))
    error = refused(storage_align, before, "tile", 0, 32, 1)
    assert error.code == "schedule.nothing-to-do"
    assert "tile along axis 0" in str(error)


@pytest.mark.parametrize("axis", [1, 2, -1, -3])
def test_no_axis_behind(axis: int) -> None:
    before = program(TRANSPOSED.format(shape="(32, 32)"))
    error = refused(storage_align, before, "tile", axis, 32, 1)
    assert error.code == "schedule.bad-axis"
    assert "tile has 2 axes" in str(error)


@pytest.mark.parametrize(
    ("axis", "factor", "offset"), [(0, 0, 1), (0, -4, 0), (0, 32, -1), (0, 1.5, 0), (True, 32, 1)]
)
def test_numbers_that_are_none(axis: int, factor: int, offset: int) -> None:
    before = program(TRANSPOSED.format(shape="(32, 32)"))
    error = refused(storage_align, before, "tile", axis, factor, offset)
    assert error.code == "schedule.bad-align"


def test_a_distance_that_no_padding_gives() -> None:
    before = program("""
def f(x):
    t = local.empty((4, 2, 8), np.float32)
    t[3, 1, 7] = x[0]
    x[1] = t[3, 1, 7]
""")
    error = refused(storage_align, before, "t", 0, 32, 1)
    assert error.code == "schedule.bad-align"
    assert "no padding of axis 1 of t" in str(error)


def test_an_argument() -> None:
    before = program(TRANSPOSED.format(shape="(32, 32)"))
    error = refused(storage_align, before, "x", 0, 32, 1)
    assert error.code == "schedule.not-an-intermediate"
    assert "cache_read" in str(error)


def test_no_such_array() -> None:
    before = program(TRANSPOSED.format(shape="(32, 32)"))
    error = refused(storage_align, before, "tiles", 0, 32, 1)
    assert error.code == "schedule.no-such-array"
    assert "arrays allocated here: tile" in str(error)


@pytest.mark.parametrize(
    "use",
    ["y[0] = a.shape[1]", "y[0] = np.sum(a)", "return a", "y[0] = a[0][1:3].sum()", "g(a[0])"],
)
def test_used_as_a_whole(use: str) -> None:
    before = program(GLOBAL.format(made="np.empty((n, m))") + f"    {use}\n")
    error = refused(storage_align, before, "a", 0, 32, 1)
    assert error.code == "schedule.used-whole"
    assert error.diagnostic.span is not None


def test_allocated_twice() -> None:
    before = program(GLOBAL.format(made="np.empty((n, m))") + "    a = np.empty((n, m))\n")
    assert refused(storage_align, before, "a", 0, 32, 1).code == "schedule.several-allocations"


# --- keeps meaning ------------------------------------------------------------------------------


def test_tiles_at_awkward_sizes() -> None:
    before = program(TRANSPOSED.format(shape="(32, 32)"))
    after = rewritten(storage_align, before, "tile", 0, 32, 1)
    assert_same_results(before, after, images, (0, 1, 31, 32, 33))


def transposed(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[j, i] = x[i, j]


def test_emulated() -> None:
    s = Schedule(transposed)
    i_0, j_0, i_1, j_1 = s.tile(["i", "j"], [8, 8])
    s.bind(i_0, "blockIdx.y")
    s.bind(j_0, "blockIdx.x")
    x_0, x_1 = s.cache_read("x", "shared", at=j_0)
    s.storage_align("x_shared", 0, 32, 1)
    s.reorder(j_1, i_1)
    s.bind(x_0, "threadIdx.y")
    s.bind(x_1, "threadIdx.x")
    bind_threads(s, {"j_1": "threadIdx.y", "i_1": "threadIdx.x"})
    assert "cuda.shared.array((8, 33), np.int64)" in cuda_text(s, images(1))
    assert_emulates(s, images, (0, 1, 7, 8, 9, 19))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 4), st.integers(1, 40), st.integers(0, 60))
def test_the_distance_is_what_was_asked_for(
    rows: int, inner: int, factor: int, offset: int
) -> None:
    before = program(f"""
def f(x):
    t = local.empty((3, {rows}, {inner}), np.float32)
    t[2, 0, 0] = x[0]
    x[1] = t[2, 0, 0]
""")
    try:
        after = rewritten(storage_align, before, "t", 0, factor, offset)
    except ScheduleError:
        distances = [cells * inner for cells in range(rows, rows + factor)]
        asked = [each for each in distances if (each - offset) % factor == 0]
        assert not asked or asked[0] == rows * inner
        return
    shape = module_text(after).split("local.empty(")[1].split(", np")[0]
    _, padded, _ = eval(shape)
    assert padded > rows
    assert (padded * inner - offset) % factor == 0
    assert padded - rows < factor


# --- trace --------------------------------------------------------------------------------------


def test_the_printed_script_replays() -> None:
    s = Schedule(transposed)
    j_0 = s.tile(["i", "j"], [8, 8])[1]
    s.cache_read("x", "shared", at=j_0)
    s.storage_align("x_shared", 0, 32, 1)
    assert s.steps[-1].call == "storage_align('x_shared', 0, 32, 1)"
    assert_replays(s)
