from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.rewrites.compute_root import compute_root
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    program,
    refused,
    sizes,
    stage,
)

Golden = Callable[[str, str], None]

CONV_ADD = """
def conv_add(x, w, out):
    n, m = out.shape
    conv = np.empty((n + 2, m), np.float32)
    for i in range(n + 2):
        for j in range(m):
            acc = np.float32(0)
            for a in range(3):
                acc += x[i, j + a] * w[a]
            conv[i, j] = acc
    for i in range(n):
        for j in range(m):
            out[i, j] = conv[i, j] + conv[i + 2, j]
"""
PAIR = """
def pair(x, y):
    n = len(y)
    a = np.empty(n + 1)
    for i in range(n + 1):
        a[i] = x[i] * 2
    for k in range(n):
        y[k] = a[k] + a[k + 1]
"""
INSIDE = """
def inside(x, y):
    n, m = y.shape
    a = np.empty({shape})
    for i in range(n):
        {body}
"""


def images(n: int) -> tuple[object, ...]:
    x = np.arange((n + 2) * (n + 3.0)).reshape(n + 2, n + 3)
    return x, np.array([1.0, -2.0, 3.0]), np.zeros((n, n + 1))


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n + 1.0), np.zeros(n)


# --- rewrites -----------------------------------------------------------------------------------


def test_it_undoes_compute_at_with_a_halo(golden: Golden) -> None:
    schedule = Schedule(program(CONV_ADD))
    outer = schedule.tile(["out.i", "out.j"], [16, 8])
    plain = schedule.source()
    schedule.compute_at("conv", outer[1])
    golden("rewrites/compute_root/before.py", schedule.source())
    made = schedule.compute_root("conv")
    golden("rewrites/compute_root/after.py", schedule.source())
    assert schedule.source() == plain
    assert [each.var for each in made] == ["i", "j", "a"]


def test_it_undoes_compute_at_in_an_innermost_loop() -> None:
    schedule = Schedule(program(PAIR))
    plain = schedule.source()
    schedule.compute_at("a", "k")
    schedule.compute_root("a")
    assert schedule.source().replace("k_1", "i") in (plain, plain.replace("for i", "for k"))


def test_a_stage_that_was_written_inside(golden: Golden) -> None:
    text = INSIDE.format(
        shape="(n, m)",
        body="""\
for j in range(i):
            a[i, j] = x[i, j] * 2
        if i > 2:
            for j in range(i):
                y[i, j] = a[i, j] + 1""",
    )
    before = program(text)
    after, _ = applied(compute_root, before, stage(before, "a"))
    golden("rewrites/compute_root/inside.py", module_text(after))
    assert_proved(before, after)


def test_conditions_around_it_come_along() -> None:
    text = INSIDE.format(
        shape="(n, m)",
        body="""\
if i > 2:
            for j in range(m):
                a[i, j] = x[i, j] * 2
            for j in range(m):
                y[i, j] = a[i, j] + 1""",
    )
    before = program(text)
    after, _ = applied(compute_root, before, stage(before, "a"))
    assert module_text(after).count("if i > 2:") == 2
    assert_proved(before, after)


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "code", "part"),
    [
        (PAIR, "a", "schedule.nothing-to-do", "a is computed at the top level already"),
        (PAIR, "y", "schedule.nothing-to-do", "y is computed at the top level already"),
        (
            INSIDE.format(shape="(n, m)", body="t = x[i, 0]\n        y[i, 0] = t"),
            "t",
            "schedule.not-an-array",
            "t is no array that is made outside",
        ),
        (
            INSIDE.format(
                shape="m",
                body="b = np.empty(m)\n        for j in range(m): b[j] = x[i, j]\n"
                "        for j in range(m): y[i, j] = b[j]",
            ),
            "b",
            "schedule.not-an-array",
            "b is no array that is made outside",
        ),
        (
            INSIDE.format(
                shape="(n, m)",
                body="for j in range(m): a[i, j] = 1\n"
                "        for j in range(m): a[i, j] = a[i, j] + 1; y[i, j] = a[i, j]",
            ).replace("range(n)", "parallel(n)"),
            "a#0",
            "schedule.already-bound",
            "i is already parallel",
        ),
        (
            INSIDE.format(
                shape="(n, m)",
                body="if i > 1:\n            y[i, 0] = 1\n        else:\n"
                "            a[i, 0] = 1\n            y[i, 0] = a[i, 0]",
            ),
            "a",
            "schedule.not-nested",
            "stands in something that is no loop",
        ),
        (
            INSIDE.format(
                shape="(n, m)",
                body="a[i, 0] = 1\n        y[i, 0] = a[i, 0]\n        a[i, 1] = 2\n"
                "        y[i, 1] = a[i, 1]",
            ),
            "a",
            "schedule.several-nests",
            "computed in several places",
        ),
    ],
)
def test_what_cannot_be_moved(text: str, name: str, code: str, part: str) -> None:
    before = program(text)
    error = refused(compute_root, before, stage(before, name))
    assert error.code == code
    assert part in str(error)
    assert error.diagnostic.span is not None


@pytest.mark.parametrize(
    ("shape", "body"),
    [
        ("m", "for j in range(m): a[j] = x[i, j]\n        for j in range(m): y[i, j] = a[j]"),
        (
            "(n, m)",
            "for j in range(m): a[i, j] = x[i, j]\n"
            "        for j in range(m): x[n - 1, j] = a[i, j]",
        ),
        (
            "(n, m)",
            "t = x[i, 0]\n        for j in range(m): a[i, j] = t\n"
            "        for j in range(m): y[i, j] = a[i, j]",
        ),
    ],
)
def test_what_the_loops_around_decide_is_refused(shape: str, body: str) -> None:
    schedule = Schedule(program(INSIDE.format(shape=shape, body=body)))
    with pytest.raises(IllegalSchedule):
        schedule.compute_root("a")
    assert schedule.steps == ()


# --- keeps meaning ------------------------------------------------------------------------------


def test_same_results() -> None:
    schedule = Schedule(program(CONV_ADD))
    outer = schedule.tile(["out.i", "out.j"], [3, 4])
    schedule.compute_at("conv", outer[0])
    schedule.compute_root("conv")
    assert_same_results(schedule.original, schedule.program, images, sizes(4))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True),
    st.integers(1, 3),
    st.integers(1, 6),
)
def test_any_window_and_tile(offsets: list[int], stride: int, tile: int) -> None:
    value = " + ".join(f"a[{stride} * k + {each}]" for each in offsets)
    before = program(f"""
def f(x, y):
    n = len(y)
    a = np.empty(3 * n + 4)
    for i in range(3 * n + 4):
        a[i] = x[i] * 2
    for k in range(n):
        y[k] = {value}
""")
    schedule = Schedule(before)
    outer, _ = schedule.split("k", [None, tile])
    schedule.compute_at("a", outer)
    schedule.compute_root("a")
    assert not set(schedule.loops("a")) & set(schedule.loops("y"))
    assert_same_results(
        before, schedule.program, lambda n: (np.arange(3 * n + 4.0), np.zeros(n)), range(6)
    )


# --- trace --------------------------------------------------------------------------------------


def pair(x, y):
    n = len(y)
    a = np.empty(n + 1)
    for i in range(n + 1):
        a[i] = x[i] * 2
    for k in range(n):
        y[k] = a[k] + a[k + 1]


def test_the_printed_script_replays() -> None:
    schedule = Schedule(pair)
    outer, _ = schedule.split("k", [None, 8])
    schedule.compute_at("a", outer)
    schedule.compute_root("a")
    assert_replays(schedule)
