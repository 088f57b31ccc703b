"""Write after read over the back edge of a loop is a dependence like any other."""

import numpy as np
import pytest

from astile.errors import IllegalSchedule
from astile.schedule.schedule import Schedule
from tests.reliability.running import assert_same, whole


def seidel(x):
    n, m = x.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            x[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]


def shift_down(x):
    for i in range(len(x) - 1):
        x[i] = x[i + 1]


def scaled(x, out):
    n = len(x)
    for i in range(n):
        x[i] = x[i] * 2.0
    for k in range(n):
        out[k] = x[k] + x[n - 1 - k]


def double_buffer(x, y, out):
    n = len(x)
    for t in range(3):
        for i in range(n):
            y[i] = x[i] + 1.0
        for k in range(n):
            x[k] = y[k] * 2.0
        out[t] = x[0]


def test_a_wavefront_is_no_rectangle():
    for step in (
        lambda s: s.parallel("i"),
        lambda s: s.parallel("j"),
        lambda s: s.bind("j", "threadIdx.x"),
    ):
        with pytest.raises(IllegalSchedule):
            step(Schedule(seidel))


def test_a_wavefront_may_be_interchanged_and_tiled():
    s = Schedule(seidel)
    s.tile(["i", "j"], [2, 3])
    assert_same(s, seidel, [(whole(n, m),) for n in (0, 2, 3, 7) for m in (1, 3, 8)])


def test_a_shift_in_place_has_an_order():
    for step in (lambda s: s.parallel("i"), lambda s: s.vectorize("i")):
        with pytest.raises(IllegalSchedule):
            step(Schedule(shift_down))


def test_a_producer_in_place_is_not_recomputed():
    with pytest.raises(IllegalSchedule):
        Schedule(scaled).compute_at("x", "k")


def test_the_steps_of_a_double_buffer_stay_in_order():
    s = Schedule(double_buffer)
    with pytest.raises(IllegalSchedule):
        s.reorder("i", "t")
    s.merge("i", "k")
    assert_same(s, double_buffer, [(whole(n), np.zeros(n), np.zeros(3)) for n in (1, 2, 5)])
