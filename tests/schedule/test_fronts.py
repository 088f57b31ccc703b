"""`recipes.time_fronts`: steps that follow each other row by row, tiles on slanted fronts."""

from __future__ import annotations

import numpy as np
import pytest

from astile import Schedule, ScheduleError
from astile.schedule import recipes


def settled(steps, a):
    for t in range(steps):
        for i in range(1, a.shape[0]):
            a[i] = a[i] / 2 + a[i - 1] / 2


def test_one_sweep_in_place() -> None:
    s = Schedule(settled)
    front, late, rows, step = recipes.time_fronts(s, "t", (2, 3))
    assert [each.var for each in (front, late, rows, step)] == ["i_0", "t_0", "i_1", "t_1"]
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
