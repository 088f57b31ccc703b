"""Loops that were split inside of what is not modelled: proved, refused, and run."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile import Schedule
from astile.analysis.proof.rejoined import rejoined
from astile.errors import ScheduleError
from astile.frontend.build import build_from_source
from astile.ir.module import module_text
from tests.support.assert_rewrite import load

HEAD = "import numpy as np\n\n\ndef f(a, b, x, y, n):\n    for i in range(n):\n"
SPLIT = """\
        for p_0 in range(a[i] // 3, b[i] // 3 + 1):
            for p_1 in range(3):
                if a[i] <= p_0 * 3 + p_1 < b[i]:
                    y[i] += x[p_0 * 3 + p_1]
"""
JOINED = """\
        for p in range(a[i], b[i]):
            y[i] += x[p]
"""
FROM_0 = """\
        for p_0 in range(b[i] // 3 + 1):
            for p_1 in range(3):
                if p_0 * 3 + p_1 < b[i]:
                    y[i] += x[p_0 * 3 + p_1]
"""
OF_SIZES = """\
        if a[i] > 0:
            for p_0 in range((n + 2) // 3):
                for p_1 in range(3):
                    if p_0 * 3 + p_1 < n:
                        y[p_0 * 3 + p_1] = x[i]
"""


def text(body: str) -> str:
    return module_text(build_from_source(HEAD + body)).strip()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SPLIT, JOINED),
        (FROM_0, JOINED.replace("a[i], ", "")),
        (
            SPLIT.replace("// 3", "").replace(" + 1)", ")").replace("range(3)", "range(1)")
            .replace(" * 3", ""),
            JOINED,
        ),
        (
            OF_SIZES,
            "        if a[i] > 0:\n            for p in range(n):\n                y[p] = x[i]\n",
        ),
    ],
)  # fmt: skip
def test_two_loops_are_one(before: str, after: str) -> None:
    found = rejoined(build_from_source(HEAD + before))
    assert found is not None
    assert module_text(found).strip() == text(after)


@pytest.mark.parametrize(
    "change",
    [
        ("range(a[i] // 3,", "range(a[i] // 3 + 1,"), ("b[i] // 3 + 1", "b[i] // 3"),
        ("b[i] // 3 + 1", "(b[i] + 2) // 3"), ("b[i] // 3 + 1", "b[i] // 4 + 1"),
        ("b[i] // 3 + 1", "a[i] // 3 + 1"), ("range(3)", "range(2)"), ("range(3)", "range(n)"),
        ("range(3)", "range(1, 3)"), ("range(3)", "range(0, 3, 2)"), ("<= p_0", "< p_0"),
        ("p_1 < b", "p_1 <= b"), ("* 3 + p_1 < b", "* 2 + p_1 < b"), ("< b[i]", "< b[i] - 1"),
        ("+= x[p_0 * 3 + p_1]", "+= x[p_0 * 3]"), ("+= x[p_0 * 3 + p_1]", "+= x[p_1]"),
        ("y[i] +=", "b[i] +="), ("y[i] +=", "a[p_0 * 3 + p_1] +="), ("y[i] +=", "i +="),
        ("y[i] += x[p_0 * 3 + p_1]", "b = x"), ("y[i] += x[p_0 * 3 + p_1]", "b.sort()"),
        ("x[p_0 * 3 + p_1]", "np.sum(b)"), ("x[p_0 * 3 + p_1]", "g(b)"),
        ("y[i] += x[p_0 * 3 + p_1]", "break"),
        ("y[i] += x[p_0 * 3 + p_1]", "pass\n                else:\n                    y[i] = 0"),
        ("y[i] += x[p_0 * 3 + p_1]", "y[i] += x[p_0 * 3 + p_1]\n                y[i] += 1"),
    ],
)  # fmt: skip
def test_others_stay(change: tuple[str, str]) -> None:
    before = SPLIT.replace(*change)
    assert before != SPLIT
    module = (HEAD + before).replace("def f", "def g(b):\n    b[0] = 9\n    return 1.0\n\n\ndef f")
    assert rejoined(build_from_source(module, "f")) is None


# --- schedules ----------------------------------------------------------------------------------


def rows(start, stop, columns, data, x, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(start[i], stop[i]):
            s += data[k] * x[columns[k]]
        y[i] = s


def lengths(count, x, y):
    for i in range(count.shape[0]):
        for j in range(count[i]):
            y[i] += x[i, j]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64", "uint64"])
@pytest.mark.parametrize("factor", [1, 2, 3, 16, 100])
def test_rows_of_data_are_split(dtype: str, factor: int) -> None:
    s = Schedule(rows)
    s.split("k", [None, factor])
    assert s.steps[-1].proof is not None
    for last in (0, 1, 5, 97, 127, np.iinfo(dtype).max if dtype == "uint8" else 120):
        start = np.array([0, 3, last, 7], dtype)
        stop = np.array([min(5, last), 4, last, 2], dtype)  # the last one is no row
        start[1], stop[1] = min(3, last), last
        data = np.arange(300.0)
        columns = (np.arange(300) * 7 % 11).astype(dtype)
        expected, found = np.zeros(4), np.zeros(4)
        rows(start, stop, columns, data, np.arange(11.0), expected)
        with np.errstate(all="raise"):
            load(s.program)(start, stop, columns, data, np.arange(11.0), found)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("target", ["emulate", "cpu"])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "uint64"])
def test_they_run_on_all_targets(dtype: str, target: Any) -> None:
    s = Schedule(lengths)
    s.split("j", [None, 4])
    count = np.array([0, 1, 3, 4, 5, 8, 250], dtype)
    x = np.random.default_rng(0).random((7, 250))
    expected, found = np.zeros(7), np.zeros(7)
    lengths(count, x, expected)
    s.build(target)(count, x, found)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_what_was_split_is_split_again() -> None:
    s = Schedule(rows)
    s.split("k", [None, 8])
    s.split("k_0", [None, 2])
    s.split("k_1", [None, 3])
    s.split("i", [None, 2])
    start, stop = np.array([0, 3, 5, 40]), np.array([3, 5, 40, 41])
    data, columns = np.arange(50.0), np.arange(50) % 7
    expected, found = np.zeros(4), np.zeros(4)
    rows(start, stop, columns, data, np.arange(7.0), expected)
    load(s.program)(start, stop, columns, data, np.arange(7.0), found)
    np.testing.assert_array_equal(found, expected)


def moving(a, x):
    for i in range(a.shape[0] - 1):
        for k in range(a[i]):
            a[i + 1] += 1
            x[k] += 1


def shrinking(a, x):
    for i in range(a.shape[0]):
        for k in range(a[i]):
            a[i] -= 1
            x[k] += 1


def seen_through(a, x):
    b = a[1:]
    for i in range(a.shape[0] - 1):
        for k in range(a[i]):
            b[i] += 1
            x[k] += 1


@pytest.mark.parametrize("function", [moving, shrinking, seen_through])
def test_bounds_that_change_inside_are_refused(function: Any) -> None:
    with pytest.raises(ScheduleError):
        Schedule(function).split("k", [None, 2])


# --- random programs ----------------------------------------------------------------------------

_BOUNDS = (
    "a[i]",
    "a[i], b[i]",
    "a[i] // 2, b[i] + 1",
    "b[i]",
    "m",
    "a[j]",
    "m // 2, b[j]",
    "i, a[i]",
)
_LINES = (
    "x[k] += 1", "y[i] += x[k % 5]", "m = a[k % 4]", "a[k % 4] = 2", "b[i] -= 1", "s += k",
    "y[k % 6] = s", "x[i] = s * k", "if x[k % 5] > 2:\n    y[i] += k", "s = x[k % 5]",
)  # fmt: skip


@settings(max_examples=150)
@given(st.integers(0, 2**32))
def test_accepted_splits_keep_values(seed: int) -> None:
    chance = random.Random(seed)
    lines = [
        each for _ in range(chance.randint(1, 4)) for each in chance.choice(_LINES).splitlines()
    ]
    body = "".join(f"                {each}\n" for each in lines)
    module = (
        "def f(a, b, x, y, n):\n    s = 0\n    m = 3\n    for i in range(n):\n"
        f"        for j in range({chance.choice(('n', '3'))}):\n"
        f"            for k in range({chance.choice(_BOUNDS)}):\n{body}    return s, m\n"
    )
    original = build_from_source(module)
    s = Schedule(original)
    for loop in chance.sample(["k", "j", "i"], 2):
        try:
            s.split(loop, [None, chance.choice([1, 2, 3])])
        except ScheduleError:
            continue
    plain, new = load(original), load(s.program)
    for n in range(4):
        random_ = np.random.default_rng(n)
        a, b = random_.integers(0, 6, 9), random_.integers(0, 6, 9)
        x, y = random_.integers(0, 5, 9), random_.integers(0, 5, 9)
        both = [[each.copy() for each in (a, b, x, y)] for _ in range(2)]
        results = []
        for run, given_ in zip((plain, new), both, strict=True):
            try:
                results.append(run(*given_, n))
            except IndexError:
                results.append("left")
        assert results[0] == results[1] or results[0] == "left"
        if results[0] != "left":
            for one, other in zip(*both, strict=True):
                np.testing.assert_array_equal(one, other, err_msg=module_text(s.program))
