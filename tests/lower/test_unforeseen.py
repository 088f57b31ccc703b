"""Narrowed integers that are stored under conditions which LLVM could foresee."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile.lower import cpu
from astile.schedule.schedule import Schedule
from tests.support.scheduled import program

TEXT = """
def f(c, d, n):
    for j in range(64):
        if {test}:
            d[j] = {value}
"""


def every_fourth(c, d):
    for j in range(64):
        if j % 4 == 1:
            d[j] = c[j]


def every_fourth_counted(c, d):
    j = 0
    while True:
        if j % 4 == 1:
            d[j] = c[j]
        j += 1
        if j >= 64:
            break


@pytest.mark.parametrize("function", [every_fourth, every_fourth_counted])
@pytest.mark.parametrize(("wide", "narrow"), [("int64", "int8"), ("int16", "uint8")])
def test_the_cells_between_those_that_are_stored_stay(
    wide: str, narrow: str, function: Callable[[np.ndarray, np.ndarray], None]
) -> None:
    """LLVM unrolls the loop, and stores each number in the width that it had."""
    c, d = np.arange(64).astype(wide), np.full(64, 77, narrow)
    wanted = d.copy()
    function(c, wanted)
    Schedule(function).build("cpu")(c, d)
    np.testing.assert_array_equal(d, wanted)


def starts_anywhere(test: str, value: str = "c[j]", narrow: str = "int8") -> bool:
    types = {"c": "int64", "d": narrow, "n": "int"}
    given = program(TEXT.format(test=test, value=value), integers=frozenset("n"))
    return "range(start, start + 64)" in cpu.lower(given, types=types).text


@pytest.mark.parametrize("test", ["j % 4 == 1", "j % 4 == 1 and c[j] > 3", "n > 3 or j % 8 == 2"])
def test_conditions_that_are_foreseen(test: str) -> None:
    assert starts_anywhere(test)


@pytest.mark.parametrize("test", ["j < n", "c[j] > 3", "(j + n) % 4 == 1"])
def test_conditions_that_depend_on_more_than_the_loop(test: str) -> None:
    assert not starts_anywhere(test)


@pytest.mark.parametrize(
    ("value", "narrow"), [("c[j]", "int64"), ("d[j + 1]", "int8"), ("1", "int8")]
)
def test_what_is_not_narrowed(value: str, narrow: str) -> None:
    assert not starts_anywhere("j % 4 == 1", value, narrow)
