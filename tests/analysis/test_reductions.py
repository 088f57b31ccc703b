from __future__ import annotations

import numpy as np
import pytest

from astile.errors import IllegalSchedule
from astile.frontend.build import build_from_source
from astile.schedule.schedule import Schedule
from tests.reliability.running import loaded

HEAD = """import numpy as np


def f(x, y):
    n, m = x.shape
"""
NEST = "    for i in range(n):\n        for j in range(m):\n            "

#: A start, updates, and the value that is stored in the end: integers in any order.
WHOLE = {
    "Python's integers": ("s = 0", ("s += i * j - 3",), "s"),
    "a product": ("s = 1", ("s *= i + j + 2",), "s"),
    "a type of NumPy": ("s = 0", ("s += np.int32(x[i, j])",), "s"),
    "a difference": ("s = np.int16(0)", ("s -= np.int16(x[i, j])",), "s"),
    "the largest": ("s = 0", ("s = max(s, np.int32(x[i, j]))",), "s"),
    "the least, by a condition": (
        "s = 99",
        ("if i * 7 + j < s:\n                s = i * 7 + j",),
        "s",
    ),
    "cells": ("h = np.zeros(4, np.int64)", ("h[0] += i",), "h[0]"),
    "cells that wrap": ("h = np.zeros(4, np.uint8)", ("h[1] += np.uint8(x[i, j])",), "h[1]"),
    "two updates of a kind": ("s = 0", ("s += i", "s -= j"), "s"),
}
#: The same for what is no integer for sure, or is cast in between.
OTHER = {
    "floats": ("s = 0.0", ("s += i",), "s"),
    "the cells of an argument": ("s = 0", ("s += x[i, j]",), "s"),
    "a quotient": ("s = 0", ("s += i / 2",), "s"),
    "a float in a cell of integers": ("h = np.zeros(4, np.int64)", ("h[0] += x[i, j]",), "h[0]"),
    "a wider type": (
        "h = np.zeros(4, np.int8)\n    g = np.ones(4, np.int64)",
        ("h[0] += g[1]",),
        "h[0]",
    ),
    "two widths": ("s = 0", ("s += np.int32(x[i, j])", "s += np.int8(x[i, j])"), "s"),
}


def schedule(start: str, updates: tuple[str, ...], end: str, *, exact: bool) -> Schedule:
    body = NEST + "\n            ".join(updates)
    text = f"{HEAD}    {start}\n{body}\n    y[0] = {end}\n"
    return Schedule(build_from_source(text), exact=exact)


@pytest.mark.parametrize("name", WHOLE)
def test_integers_come_in_any_order(name: str) -> None:
    s = schedule(*WHOLE[name], exact=True)
    plain = loaded(s)
    s.reorder("j", "i")
    assert s.steps[-1].proof is not None
    assert s.steps[-1].proof.kind == "equal"
    for shape in ((0, 3), (1, 1), (5, 7)):
        x = np.random.default_rng(shape[0]).integers(-90, 90, shape)
        x = np.abs(x) if "uint" in WHOLE[name][0] else x
        wanted, got = np.zeros(1), np.zeros(1)
        with np.errstate(over="ignore"):
            plain(x, wanted)
            loaded(s)(x, got)
        np.testing.assert_array_equal(wanted, got)


@pytest.mark.parametrize("name", OTHER)
def test_others_keep_their_order_when_exact(name: str) -> None:
    with pytest.raises(IllegalSchedule):
        schedule(*OTHER[name], exact=True).reorder("j", "i")
    s = schedule(*OTHER[name], exact=False)
    s.reorder("j", "i")
    assert s.steps[-1].proof is not None
    assert s.steps[-1].proof.kind == "equal up to reassociation"


def test_integers_beside_floats() -> None:
    """The order of the floats is kept, that of the integers is free."""
    both = ("k = 0\n    s = 0.0", ("k += i", "s += x[i, j]"), "s + k")
    with pytest.raises(IllegalSchedule) as caught:
        schedule(*both, exact=True).reorder("j", "i")
    assert caught.value.array == "s"
    kept = ("k = 0", ("k += i", "y[i] = x[i, j]"), "k")
    s = schedule(*kept, exact=True)
    s.reorder("j", "i")


@pytest.mark.parametrize("dtype", ["np.int64", "np.float64"])
def test_partial_sums_of_integers(dtype: str) -> None:
    text = f"{HEAD}    s = np.zeros(2, {dtype})\n{NEST}s[1] += i + j\n    y[0] = s[1]\n"
    s = Schedule(build_from_source(text), exact=True)
    s.split("j", [None, 4])
    if dtype == "np.float64":
        with pytest.raises(IllegalSchedule):
            s.rfactor("s", "j_1")
        return
    s.rfactor("s", "j_1")
    assert s.steps[-1].proof is not None
    assert s.steps[-1].proof.kind == "equal"


def test_one_partial_sum_of_floats_is_no_copy() -> None:
    """A single lane adds its sum to the start, which rounds otherwise."""
    text = (
        f"{HEAD}    s = 0.5\n    k = 0\n{NEST}s += x[i, j]\n            k += i\n    y[0] = s + k\n"
    )
    s = Schedule(build_from_source(text), exact=True)
    s.split("j", [None, 1])
    with pytest.raises(IllegalSchedule):
        s.rfactor("s", "j_1")
