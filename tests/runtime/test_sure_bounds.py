"""Indices are checked as a kernel runs only at sizes at which data may lead out of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from astile import Kernel, Schedule, tile
from astile.schedule import recipes


def picked(x, y):
    for i in range(x.shape[0]):
        if x[i] > 0:
            y[i] = x[i]


def test_only_calls_that_may_leave_an_array_check_indices() -> None:
    kernel = tile(target="cpu")(picked)
    x, y = np.array([1.0, -1.0, 2.0, -2.0]), np.zeros(4)
    kernel(x, y)
    np.testing.assert_array_equal(y, [1, 0, 2, 0])
    few = np.zeros(3)
    kernel(x, few)  # the cell that is not there is not reached
    np.testing.assert_array_equal(few, [1, 0, 2])
    with pytest.raises(IndexError):
        kernel(np.array([1.0, 1.0, 1.0, 1.0]), np.zeros(3))
    assert checks_of(kernel) == [False, True]


def checks_of(kernel: Kernel[..., Any]) -> list[bool]:
    """Whether indices are checked, in the order in which forms of a kernel were first called."""
    return [key[0].check_bounds for key in kernel._forms.specializer("cpu", {})._launchers]


def counted(x, counts):
    for i in range(x.shape[0]):
        counts[x[i]] += 1


@pytest.mark.parametrize(
    ("dtype", "length"), [("uint8", 256), ("int8", 128), ("uint16", 65536), ("int16", 32768)]
)
def test_an_index_whose_type_has_a_cell_for_each_value_needs_no_check(
    dtype: str, length: int
) -> None:
    limits = np.iinfo(dtype)
    kernel = tile(target="cpu")(counted)
    x = np.array([limits.min, limits.max, 1, 1], dtype)
    for short in (0, 1):
        counts, expected = np.zeros((2, length - short), np.int64)
        if short:
            with pytest.raises(IndexError):
                counted(x, expected)
            with pytest.raises(IndexError):
                kernel(x, counts)
        else:
            counted(x, expected)
            kernel(x, counts)
        np.testing.assert_array_equal(counts, expected)
    assert checks_of(kernel) == [False, True]


def test_what_is_computed_of_data_is_inside_where_all_that_it_may_be_is() -> None:
    def bars(x, counts):
        n = counts.shape[0]
        for i in range(x.shape[0]):
            counts[max(0, min(x[i] + i, n - 1))] += x[i] % n
            level = x[i] >> 60
            counts[level] += 1

    kernel = tile(target="cpu")(bars)
    x = np.array([-(2**62), 2**62, 5, -3, 0])
    for length in (8, 7):
        counts, expected = np.zeros((2, length), np.int64)
        bars(x, expected)
        kernel(x, counts)
        np.testing.assert_array_equal(counts, expected)
    assert checks_of(kernel) == [False, True]


def test_an_index_with_a_name_is_inside_where_sizes_say_so() -> None:
    def binned(x, counts):
        bins = counts.shape[0]
        for i in range(x.shape[0]):
            level = max(0, min(int(x[i] * bins), bins - 1))
            counts[level] += 1

    kernel = tile(target="cpu")(binned)
    x = np.array([-0.5, 0.0, 0.3, 0.99, 1.0, 7.0])
    counts, expected = np.zeros((2, 9), np.int64)
    binned(x, expected)
    kernel(x, counts)
    np.testing.assert_array_equal(counts, expected)
    with pytest.raises(IndexError):
        kernel(x, np.zeros(0, np.int64))
    assert checks_of(kernel) == [False, True]


def test_an_index_from_an_iteration_before_is_checked_against_what_holds_now() -> None:
    def late(x, counts):
        level = 0
        for i in range(x.shape[0]):
            counts[level] += 1
            level = min(i, 3)

    kernel = tile(target="cpu")(late)
    counts = np.zeros(2, np.int64)
    with pytest.raises(IndexError):
        kernel(np.zeros(9), counts)
    counts = np.zeros(4, np.int64)
    kernel(np.zeros(9), counts)
    np.testing.assert_array_equal(counts, [2, 1, 1, 5])


def test_a_histogram_of_bytes_runs_on_several_cores() -> None:
    schedule = Schedule(counted)
    recipes.histogram(schedule, "i", "counts", parts=2)
    kernel = schedule.build("cpu")
    x = np.random.default_rng(3).integers(0, 256, 40_001).astype(np.uint8)
    for length in (256, 255):
        counts = np.zeros(length, np.int64)
        few = x[x < length]
        kernel(few, counts)
        np.testing.assert_array_equal(counts, np.bincount(few, minlength=length))
    texts = [each.text for each in kernel._forms.specializer("cpu", {})._launchers.values()]
    assert ["prange" in each for each in texts] == [True, False]


def up_to_an_argument(x, counts, n):
    for i in range(x.shape[0]):
        b = int(x[i])
        if 0 <= b < n:
            counts[b] += 1


def either_side(x, counts, n):
    for i in range(x.shape[0]):
        b = int(x[i])
        if b > 0 and not b >= n:
            counts[b - 1] += 1


def left_early(x, counts, n):
    for i in range(x.shape[0]):
        b = int(x[i])
        if b < 0 or n <= b:
            continue
        counts[b] += 1


def as_long_as(x, counts, n):
    for i in range(x.shape[0]):
        b = int(x[i])
        while 0 < b < n:
            counts[b] += 1
            b = b // 2


def chosen(x, counts, n):
    for i in range(x.shape[0]):
        b = int(x[i])
        counts[0] += counts[b] if b >= 0 and b < n else 1


@pytest.mark.parametrize(
    "function", [up_to_an_argument, either_side, left_early, as_long_as, chosen]
)
def test_an_index_that_a_condition_bounds_needs_no_check(function: Any) -> None:
    kernel = tile(target="cpu")(function)
    x = np.array([-5.0, 0.0, 3.0, 7.0, 8.0, 1e9, 7.0])
    for n in (8, -1, 9):  # only the last one may leave the eight cells
        counts, expected = np.zeros((2, 8), np.int64)
        given = x[x < 8] if n == 9 else x
        function(given, expected, n)
        kernel(given, counts, n)
        np.testing.assert_array_equal(counts, expected)
    with pytest.raises(IndexError):
        kernel(np.array([8.0]) + (function is either_side), np.zeros(8, np.int64), 10)
    assert sorted(set(checks_of(kernel))) == [False, True]


def set_after(x, counts, n):
    for i in range(x.shape[0]):
        b = int(x[i])
        if 0 <= b < n:
            b += 1
            counts[b] += 1


def set_in_an_iteration_before(x, counts, n):
    b = 0
    if 0 <= b < n:
        for i in range(x.shape[0]):
            counts[b] += 1
            b = int(x[i])


def another_limit(x, counts, n):
    for i in range(x.shape[0]):
        b = int(x[i])
        if 0 <= b < n:
            n += 1
            counts[b] += 1


def one_side(x, counts, n):
    for i in range(x.shape[0]):
        b = int(x[i])
        if b < n:
            counts[b] += 1


def otherwise(x, counts, n):
    for i in range(x.shape[0]):
        b = int(x[i])
        if 0 <= b < n:
            counts[0] += 1
        else:
            counts[b] += 1


def either(x, counts, n):
    for i in range(x.shape[0]):
        b = int(x[i])
        if b >= 0 or b < n:
            counts[b] += 1


def a_trip_before(x, counts, n):
    b = 0
    for i in range(x.shape[0]):
        if b < 0 or b >= n:
            break
        b = int(x[i])
        counts[b] += 1


@pytest.mark.parametrize(
    "function",
    [
        set_after,
        set_in_an_iteration_before,
        another_limit,
        one_side,
        otherwise,
        either,
        a_trip_before,
    ],
)
def test_a_condition_that_does_not_bound_the_index_leaves_its_check(function: Any) -> None:
    kernel = tile(target="cpu")(function)
    counts, expected = np.zeros((2, 8), np.int64)
    x = np.array([0.0, 3.0, 2.0, 6.0])
    function(x, expected, 8)
    kernel(x, counts, 8)
    np.testing.assert_array_equal(counts, expected)
    assert checks_of(kernel) == [True]
