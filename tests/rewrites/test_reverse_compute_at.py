from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.rewrites.reorder import reorder
from astile.rewrites.reverse_compute_at import reverse_compute_at
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

SCALE_ADD = """
def f(x, y):
    n, m = x.shape
    a = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            a[i, j] = x[i, j] * 2
    for i in range(n):
        for j in range(m):
            y[i, j] = a[i, j] + 1
"""
VECTOR = """
def f(x, y):
    n = len(x)
    a = np.empty(n)
    for i in {producer}
    for i in {consumer}:
        y[i] = {value}
"""


def moved(before: Program, name: str, at: int, **options: int) -> Program:
    return rewritten(reverse_compute_at, before, stage(before, name), at, **options)


def tiled(before: Program, tile: int) -> tuple[Program, list[int]]:
    outer, inner = [], []
    after = before
    for identity in loops(before, "i", "j"):
        after, made = applied(split, after, identity, [None, tile])
        outer.append(made[0])
        inner.append(made[1])
    return rewritten(reorder, after, [*outer, *inner]), outer


def squares(n: int) -> tuple[object, ...]:
    m = n + 2
    return (np.arange(n * m) % 13.0).reshape(n, m), np.zeros((n, m))


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 3.0, np.zeros(n)


# --- rewrites -----------------------------------------------------------------------------------


def test_an_epilogue(golden: Golden) -> None:
    before = program(SCALE_ADD)
    after, outer = tiled(before, 16)
    after = moved(after, "y", outer[1])
    golden("rewrites/reverse_compute_at/epilogue.py", module_text(after))
    assert_proved(before, after)


def test_a_window_is_read_when_its_last_cell_is_there(golden: Golden) -> None:
    before = program(
        VECTOR.format(
            producer="range(n): a[i] = x[i]",
            consumer="range(n - 2)",
            value="a[i] + a[i + 1] + a[i + 2]",
        )
    )
    after, [at, _] = applied(split, before, loop(before, "i"), [None, 16])
    after = moved(after, "y", at)
    golden("rewrites/reverse_compute_at/window.py", module_text(after))
    assert_proved(before, after)


def test_a_consumer_of_two_arrays(golden: Golden) -> None:
    before = program("""
def f(x, y):
    n = len(x)
    a = np.empty(n)
    b = np.empty(n)
    for i in range(n):
        a[i] = x[i] * 2
        b[i] = x[i] + 1
    for i in range(n - 1):
        y[i] = a[i + 1] * b[i]
""")
    after, [at, _] = applied(split, before, loop(before, "i"), [None, 8])
    after = moved(after, "y", at)
    golden("rewrites/reverse_compute_at/two_arrays.py", module_text(after))
    assert_proved(before, after)


def test_an_update_of_what_was_produced(golden: Golden) -> None:
    before = program("""
def f(x):
    n = len(x)
    for i in range(n):
        x[i] = x[i] * 2
    for k in range(n):
        x[k] += 1
""")
    after, [at, _] = applied(split, before, loop(before, "i"), [None, 8])
    after = moved(after, "x#1", at)
    golden("rewrites/reverse_compute_at/update.py", module_text(after))
    assert_proved(before, after)


def test_positions() -> None:
    before = program("""
def f(x, y, z):
    n = len(x)
    a = np.empty(n)
    for i in range(n):
        a[i] = x[i]
        z[i] = 0.0
    for k in range(n):
        y[k] = a[k]
""")
    at = loop(before, "i")
    last = module_text(moved(before, "y", at))
    right_after = module_text(moved(before, "y", at, index=-2))
    assert last.index("z[i] = 0.0") < last.index("y[i] = a[i]")
    assert right_after.index("y[i] = a[i]") < right_after.index("z[i] = 0.0")
    assert right_after == module_text(moved(before, "y", at, index=1))


# --- refuses ------------------------------------------------------------------------------------


def plain() -> Program:
    return program(
        VECTOR.format(producer="range(n): a[i] = x[i]", consumer="range(n)", value="a[i]")
    )


def test_a_stage_inside_already() -> None:
    before = plain()
    error = refused(reverse_compute_at, before, stage(before, "a"), loop(before, "i"))
    assert error.code == "schedule.already-inside"
    assert "a is computed inside the loop over i already" in str(error)


def test_a_producer_is_no_consumer() -> None:
    before = plain()
    error = refused(reverse_compute_at, before, stage(before, "a"), loop(before, "i", 1))
    assert error.code == "schedule.wrong-direction"
    assert 'compute_at("a", ...)' in str(error)


def test_it_reads_nothing_from_there() -> None:
    before = program("""
def f(x, y):
    a = np.empty(len(x))
    for i in range(len(x)):
        a[i] = x[i]
    for k in range(len(x)):
        y[k] = x[k]
""")
    error = refused(reverse_compute_at, before, stage(before, "y"), loop(before, "i"))
    assert error.code == "schedule.not-a-producer"
    assert "y reads nothing that the loop over i writes" in str(error)
    assert "it writes a" in str(error)


def test_a_consumer_that_is_bound() -> None:
    before = program(
        VECTOR.format(producer="range(n): a[i] = x[i]", consumer="thread.x(n)", value="a[i]")
        .replace("for i in thread", "for k in thread")
        .replace("y[i] = a[i]", "y[k] = a[k]")
    )
    error = refused(reverse_compute_at, before, stage(before, "y"), loop(before, "i"))
    assert error.code == "schedule.already-bound"
    assert "k is already thread.x" in str(error)


def test_no_loop_to_move() -> None:
    before = program("""
def f(x, y):
    a = np.empty(len(x))
    for i in range(len(x)):
        a[i] = x[i]
    y[0] = a[0]
""")
    error = refused(reverse_compute_at, before, stage(before, "y"), loop(before, "i"))
    assert error.code == "schedule.no-loop"


def test_another_branch() -> None:
    before = program("""
def f(x, y, n):
    a = np.empty(n)
    if n > 4:
        for i in range(n):
            a[i] = x[i]
    else:
        for j in range(n):
            y[j] = a[j]
""")
    error = refused(reverse_compute_at, before, stage(before, "y"), loop(before, "i"))
    assert error.code == "schedule.not-beside"


@pytest.mark.parametrize("index", [-3, 2, 9])
def test_no_such_position(index: int) -> None:
    before = plain()
    error = refused(reverse_compute_at, before, stage(before, "y"), loop(before, "i"), index=index)
    assert error.code == "schedule.bad-index"
    assert f"index={index}" in str(error)


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("tile", [1, 5])
def test_an_epilogue_at_awkward_sizes(tile: int) -> None:
    before = program(SCALE_ADD)
    after, outer = tiled(before, tile)
    for at in outer:
        done = moved(after, "y", at)
        assert_same_results(before, done, squares, sizes(5))
        assert_proved(before, done)


@pytest.mark.parametrize(
    ("producer", "consumer", "value"),
    [
        ("range(n): a[i] = x[i]", "range(n)", "a[i] * 2"),
        ("range(n): a[i] = x[i]", "range(1, n)", "a[i - 1] - a[i]"),
        ("range(n): a[i] = x[i]", "range(n // 2)", "a[2 * i] + a[2 * i + 1]"),
        ("range(n): a[i] = x[i]", "range(0, n, 3)", "a[i] * 2"),
        ("range(n): a[i] = x[i]", "range(n)", "a[i] + x[n - 1 - i]"),
        ("range(n - 1, -1, -1): a[n - 1 - i] = x[i]", "range(n)", "a[i] * 2"),
        ("range(3, n): a[i - 3] = x[i]", "range(n - 3)", "a[i] * 2"),
        ("range(n // 2): a[i * 2] = x[i]; a[i * 2 + 1] = 0.0", "range(n // 2 * 2)", "a[i] * 2"),
    ],
)
@pytest.mark.parametrize("tile", [None, 4])
def test_all_kinds_of_regions(producer: str, consumer: str, value: str, tile: int | None) -> None:
    before = program(VECTOR.format(producer=producer, consumer=consumer, value=value))
    after, at = before, loop(before, "i")
    if tile is not None:
        after, [at, _] = applied(split, before, at, [None, tile])
    after = moved(after, "y", at)
    assert_same_results(before, after, vectors, (0, 1, 2, 3, 4, 5, 8, 11, 13))
    assert_proved(before, after)


def test_a_window_loop_inside_the_consumer() -> None:
    before = program("""
def f(x, y):
    n = len(y)
    a = np.empty(n + 4)
    for i in range(n + 4):
        a[i] = x[i] * 2
    for k in range(n):
        s = 0.0
        for r in range(5):
            s += a[k + r]
        y[k] = s
""")
    after, [at, _] = applied(split, before, loop(before, "i"), [None, 4])
    after = moved(after, "y", at)
    assert_same_results(before, after, lambda n: (np.arange(n + 4.0), np.zeros(n)), sizes(4))
    assert_proved(before, after)


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True),
    st.sampled_from([1, 2]),
    st.sampled_from([2, 3, 8]),
    st.sampled_from([None, 3]),
)
def test_any_window(window: list[int], stride: int, tile: int, own: int | None) -> None:
    value = " + ".join(f"a[{stride} * k + {each}]" for each in window)
    before = program(f"""
def f(x, y):
    n = len(y)
    a = np.empty({stride} * n + 5)
    for i in range({stride} * n + 5):
        a[i] = x[i] * 2
    for k in range(n):
        y[k] = {value}
""")
    after, [at, _] = applied(split, before, loop(before, "i"), [None, tile])
    if own is not None:
        after, _ = applied(split, after, loop(after, "k"), [None, own])
    after = moved(after, "y", at)

    def arguments(n: int) -> tuple[object, ...]:
        return np.arange(stride * n + 5.0), np.zeros(n)

    assert_same_results(before, after, arguments, (0, 1, 2, 3, 7, 12))
    assert_proved(before, after)


# --- trace --------------------------------------------------------------------------------------


def scale_add(x, y):
    n, m = x.shape
    a = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            a[i, j] = x[i, j] * 2
    for i in range(n):
        for j in range(m):
            y[i, j] = a[i, j] + 1


def test_the_printed_script_replays() -> None:
    schedule = Schedule(scale_add)
    outer = schedule.tile(["a.i", "a.j"], [16, 8])
    schedule.reverse_compute_at("y", outer[1])
    assert_replays(schedule)


def test_what_is_made_between_stands_before_the_loop() -> None:
    """Arrays are often allocated, and sizes named, right before the loops that use them."""
    before = program("""
def f(x, out):
    n, m = x.shape
    a = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            a[i, j] = x[i, j] * 2
    best = np.zeros(n)
    last = m - 1
    stop = last
    for i in range(n):
        for k in range(stop):
            best[i] = max(best[i], a[i, k])
    rest = n * 2
    for i in range(n):
        out[i, 0] = best[i] + rest
""")
    after = moved(before, "best", loop(before, "i"))
    text = module_text(after)
    assert text.index("best = np.zeros(n)") < text.index("stop = last") < text.index("for i in")
    assert_proved(before, after)
    after = moved(after, "out", loop(after, "i"))
    assert module_text(after).count("for i in") == 1
    assert_proved(before, after)
    assert_same_results(before, after, squares, at=(1, 2, 5))


def test_what_is_made_of_a_result_stays_behind_it() -> None:
    s = Schedule(
        program("""
def f(x, out):
    a = np.empty(len(x))
    for i in range(len(x)):
        a[i] = x[i] * 2
    top = a[0]
    for k in range(len(x)):
        out[k] = a[k] - top
""")
    )
    with pytest.raises(IllegalSchedule, match="a\\[0\\] would be read before it is written"):
        s.reverse_compute_at("out", "i")
