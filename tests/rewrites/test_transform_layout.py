from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule, ScheduleError
from astile.ir.module import module_text
from astile.rewrites.transform_layout import text_of, transform_layout
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    assert_proved,
    assert_replays,
    assert_same_results,
    program,
    refused,
    rewritten,
)
from tests.support.staged import assert_emulates, bind_threads

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
MAPS = {
    "transposed": "lambda i, j: (j, i)",
    "tiles": "lambda i, j: (i // 16, j // 8, i % 16, j % 8)",
    "panels": "lambda i, j: (j // 16, i, j % 16)",
    "spread": "lambda i, j: (2 * i, j + 3)",
    "slanted": "lambda i, j: (i + j, j)",
    "interleaved": "lambda a, b: (a // 2, b * 2 + a % 2)",
}


def blur_text(made: str = EMPTY) -> str:
    return BLUR.format(made=made)


def images(n: int) -> tuple[object, ...]:
    x = (np.arange(n * (n + 3)) % 17).reshape(n, n + 3).astype(np.float32)
    return x, np.zeros((n, n + 3), np.float32)


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAPS)
def test_maps(golden: Golden, name: str) -> None:
    before = program(blur_text())
    after = rewritten(transform_layout, before, "wide", MAPS[name])
    golden(f"rewrites/transform_layout/{name}.py", module_text(after))
    assert_proved(before, after)


@pytest.mark.parametrize(
    ("made", "remade"),
    [
        ("np.empty((H, W))", "np.empty((W, H), np.float64)"),
        ("np.zeros((H, W), np.int64)", "np.zeros((W, H), np.int64)"),
        ("np.empty_like(x)", "np.empty((W, H), x.dtype)"),
        ("np.empty((H, W), dtype=np.float32)", "np.empty((W, H), np.float32)"),
    ],
)
def test_the_kind_of_array_stays(made: str, remade: str) -> None:
    before = program(blur_text(made))
    after = rewritten(transform_layout, before, "wide", "lambda i, j: (j, i)")
    assert f"wide = {remade}" in module_text(after)
    assert_proved(before, after)


def test_a_tile() -> None:
    before = program("""
def f(x, y):
    for b in range(3):
        tile = shared.empty((4, 8), np.float32)
        for i in range(4):
            for j in range(8):
                tile[i, j] = x[b, i, j]
        for j in range(8):
            for i in range(4):
                y[b, j, i] = tile[i, j]
""")
    after = rewritten(transform_layout, before, "tile", "lambda i, j: (j, i)")
    assert "tile = shared.empty((8, 4), np.float32)" in module_text(after)
    assert "tile[j, i]" in module_text(after)
    assert_proved(before, after)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda i, j: (j, i), "lambda i, j: (j, i)"),
        (lambda i, j: (i // 16, j, i % 16), "lambda i, j: (i // 16, j, i % 16)"),
        (lambda a: a + 1, "lambda a: (a + 1,)"),
        (lambda a: [2 * a, 1 - -a, 3 + a - 1], "lambda a: (2 * a, 1 - -a, 3 + a - 1)"),
        (lambda a, b: (a * np.int64(2), 0, b), "lambda a, b: (a * 2, 0, b)"),
    ],
)
def test_functions_are_written_down(function: Callable[..., object], text: str) -> None:
    assert text_of(function) == text


@pytest.mark.parametrize(
    ("index_map", "remade"),
    [("lambda H, W: (W, H)", "(W, H)"), ("lambda W, H: (H, W // 4)", "(W, (H + 3) // 4)")],
)
def test_parameters_called_like_sizes(index_map: str, remade: str) -> None:
    """The parameters of a map are its own names, whatever the program calls so."""
    after = rewritten(transform_layout, program(blur_text()), "wide", index_map)
    assert f"wide = np.empty({remade}, np.float32)" in module_text(after)


def test_a_parameter_called_like_a_loop_that_sets_the_extent() -> None:
    before = program("""
def f(x, y):
    n = len(x)
    for i in range(n):
        tile = np.empty(min(i + 1, n - 1) + 1)
        for j in range(min(i + 1, n - 1) + 1):
            tile[j] = x[j]
        y[i] = tile[0]
""")
    after = rewritten(transform_layout, before, "tile", "lambda i: 2 * i")
    assert "tile = np.empty(min(i + 1, n - 1) * 2 + 1, np.float64)" in module_text(after)
    assert_proved(before, after)


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "index_map",
    [
        "",
        "(j, i)",
        "lambda i, j: (j, i",
        "print('hello')",
        "lambda i, j: __import__('os').getcwd()",
        "lambda i, j: (i, x)",
        "lambda i, j: (i * j, j)",
        "lambda i, j: (i // j, j)",
        "lambda i, j: (i % 0, j)",
        "lambda i, j: (i / 2, j)",
        "lambda i, j: (i, j.real)",
        "lambda i, j: (i, j if i else i)",
        "lambda i, j=2: (i, j)",
        "lambda *i: i",
        "lambda i, j: (i, True)",
        "lambda i, j: ()",
    ],
)
def test_what_is_no_map(index_map: str) -> None:
    error = refused(transform_layout, program(blur_text()), "wide", index_map)
    assert error.code == "schedule.bad-map"
    assert "lambda i, j: (j, i)" in str(error)


@pytest.mark.parametrize("index_map", ["lambda i: (i, 0)", "lambda i, j, k: (i, j, k)"])
def test_another_number_of_axes(index_map: str) -> None:
    error = refused(transform_layout, program(blur_text()), "wide", index_map)
    assert error.code == "schedule.bad-map"
    assert "wide has 2 axes" in str(error)


@pytest.mark.parametrize("index_map", ["lambda i, j: (i - 1, j)", "lambda i, j: (i, j - i)"])
def test_an_index_below_0(index_map: str) -> None:
    error = refused(transform_layout, program(blur_text()), "wide", index_map)
    assert error.code == "schedule.bad-map"
    assert "may be below 0" in str(error)


@pytest.mark.parametrize("name", ["x", "out"])
def test_an_argument(name: str) -> None:
    error = refused(transform_layout, program(blur_text()), name, "lambda i, j: (j, i)")
    assert error.code == "schedule.not-an-intermediate"


@pytest.mark.parametrize("use", ["return wide", "out[0, 0] = wide.shape[0]", "g(wide[0])"])
def test_used_as_a_whole(use: str) -> None:
    before = program(blur_text() + f"    {use}\n")
    error = refused(transform_layout, before, "wide", "lambda i, j: (j, i)")
    assert error.code == "schedule.used-whole"


def blur(x, out):
    H, W = x.shape
    wide = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W - 2):
            wide[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = wide[i, j] + wide[i + 1, j] + wide[i + 2, j]


@pytest.mark.parametrize(
    "index_map", ["lambda i, j: (i, j // 2)", "lambda i, j: (i + j, 0)", "lambda i, j: (0, 0)"]
)
def test_two_cells_in_one_place_are_not_proved(index_map: str) -> None:
    s = Schedule(blur)
    with pytest.raises(IllegalSchedule, match="not proved to keep the result"):
        s.transform_layout("wide", index_map)
    assert s.steps == ()


@pytest.mark.parametrize(
    "function",
    [
        lambda i, j: (i / 2, j),
        lambda i, j: (i, abs(j)),
        lambda i, j: (i, j.real),
        lambda i, j: (i, 1.5),
        lambda i, j: (j, i) if i > j else (i, j),
        lambda i, j: "ij",
    ],
)
def test_functions_that_do_something_else(function: Callable[..., object]) -> None:
    with pytest.raises(ScheduleError) as caught:
        Schedule(blur).transform_layout("wide", function)
    assert caught.value.code == "schedule.bad-map"


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAPS)
def test_maps_at_awkward_sizes(name: str) -> None:
    before = program(blur_text())
    after = rewritten(transform_layout, before, "wide", MAPS[name])
    assert_same_results(before, after, images, (0, 1, 2, 8, 15, 16, 17, 37))


def test_emulated() -> None:
    s = Schedule(blur)
    outer = s.tile(["out.i", "out.j"], [4, 8])
    s.compute_at("wide", outer[1])
    s.set_scope("wide", "shared")
    s.transform_layout("wide_shared", lambda i, j: (j, i))
    s.bind(outer[0], "blockIdx.y")
    s.bind(outer[1], "blockIdx.x")
    bind_threads(s, {"i_1": "threadIdx.y", "j_1": "threadIdx.x"})
    assert_emulates(s, images, (1, 2, 4, 5, 11))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.permutations(["i // {a}", "i % {a}", "j // {b}", "j % {b}"]), st.data())
def test_any_tiles(parts: list[str], data: st.DataObject) -> None:
    a, b = data.draw(st.sampled_from([1, 2, 5, 16])), data.draw(st.sampled_from([1, 3, 8]))
    index_map = f"lambda i, j: ({', '.join(parts)})".format(a=a, b=b)
    before = program(blur_text())
    after = rewritten(transform_layout, before, "wide", index_map)
    assert_same_results(before, after, images, (0, 1, 3, 7))
    assert_proved(before, after)


# --- trace --------------------------------------------------------------------------------------


def test_the_printed_script_replays() -> None:
    s = Schedule(blur)
    s.transform_layout("wide", lambda row, column: (column, row))
    assert s.steps[-1].call == "transform_layout('wide', 'lambda row, column: (column, row)')"
    assert_replays(s)
    again = Schedule(blur)
    again.apply(s.trace.as_json())
    assert again.source() == s.source()
