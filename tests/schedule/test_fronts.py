"""`recipes.time_fronts`: steps that follow each other row by row, tiles on slanted fronts."""

from __future__ import annotations

import numpy as np
import pytest

from astile import Schedule, ScheduleError
from astile.schedule import recipes


def smoothed(steps, a, b):
    n = a.shape[0]
    for t in range(steps):
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
        for i in range(1, n - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3


def settled(steps, a):
    for t in range(steps):
        for i in range(1, a.shape[0]):
            a[i] = a[i] / 2 + a[i - 1] / 2


def test_fronts_keep_the_result() -> None:
    s = Schedule(smoothed)
    front, late, rows, step = recipes.time_fronts(s, "t", (3, 4))
    assert [each.var for each in (front, late, rows, step)] == ["i_0", "t_0", "i_1", "t_1"]
    assert "for t_0 in parallel(" in s.source()
    kernel = s.build("python")
    for steps, n in ((0, 5), (1, 1), (1, 3), (3, 4), (4, 9), (7, 23)):
        a, b = np.random.default_rng(n).random((2, n))
        expected, other = a.copy(), b.copy()
        smoothed(steps, expected, other)
        kernel(steps, a, b)
        np.testing.assert_array_equal(a, expected)
        np.testing.assert_array_equal(b, other)


def test_one_sweep_in_place() -> None:
    s = Schedule(settled)
    recipes.time_fronts(s, "t", (2, 3))
    for steps, n in ((3, 1), (5, 8)):
        a = np.random.default_rng(n).random(n)
        expected = a.copy()
        settled(steps, expected)
        s.build("python")(steps, a)
        np.testing.assert_array_equal(a, expected)


def test_a_loop_without_sweeps() -> None:
    def only_time(n, a):
        for t in range(n):
            a[t] = 0.0

    with pytest.raises(ScheduleError, match="no sweeps over 1 axes"):
        recipes.time_fronts(Schedule(only_time), "t", (2, 3))
