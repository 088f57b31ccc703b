"""A scalar that is read between its updates, or lives on after a condition, is no reduction."""

import numpy as np
import pytest

from astile.errors import IllegalSchedule, ScheduleError
from astile.schedule.schedule import Schedule
from tests.reliability.running import assert_same, whole


def prefix(x, out):
    n, m = x.shape
    s = 0.0
    for i in range(n):
        for j in range(m):
            s += x[i, j]
            out[i, j] = s


def last_seen(x, last):
    n, m = x.shape
    seen = 0.0
    for i in range(n):
        for j in range(m):
            if x[i, j] > 0:
                seen = x[i, j]
    last[0] = seen


def total(x, out):
    n, m = x.shape
    s = 0.0
    for i in range(n):
        for j in range(m):
            s += x[i, j]
    out[0] = s


def first_minimum(x, where):
    best = x[0]
    index = 0
    for i in range(1, len(x)):
        if x[i] < best:
            best = x[i]
            index = i
    where[0] = index


def test_partial_sums_that_are_read_keep_their_order():
    with pytest.raises(IllegalSchedule):
        Schedule(prefix).reorder("j", "i")


def test_a_conditional_scalar_that_lives_on_keeps_its_order():
    with pytest.raises(IllegalSchedule):
        Schedule(last_seen).reorder("j", "i")
    with pytest.raises(IllegalSchedule):
        Schedule(last_seen).parallel("i")


def test_the_index_of_a_minimum_is_no_reduction():
    with pytest.raises(IllegalSchedule):
        Schedule(first_minimum).parallel("i")


def test_a_sum_with_one_use_may_be_reassociated_unless_exact():
    s = Schedule(total)
    s.reorder("j", "i")
    assert s.steps[-1].proof.kind == "equal up to reassociation"
    assert_same(s, total, [(whole(3, 5), np.zeros(1)), (whole(0, 5), np.zeros(1))])
    with pytest.raises(IllegalSchedule):
        Schedule(total, exact=True).reorder("j", "i")


def test_splitting_keeps_the_order_of_a_sum():
    s = Schedule(total, exact=True)
    s.split("j", [None, 2])
    assert s.steps[-1].proof.kind == "equal"


def lives_on(x, out):
    n, m = x.shape
    for i in range(n):
        s = 0.0
        for j in range(m):
            s += x[i, j]
        out[i] = s
    out[0] = s


@pytest.mark.parametrize(
    "step",
    [
        lambda s: s.reorder("j", "i"),
        lambda s: s.distribute("i", at="out#0"),
        lambda s: s.expand("s", "i"),
    ],
)
def test_a_scalar_set_in_a_loop_and_read_after_it_gets_no_cells(step):
    s = Schedule(lives_on)
    with pytest.raises(ScheduleError, match="s is read outside of the loop over i"):
        step(s)
    s.split("i", [None, 2])
    assert_same(s, lives_on, [(whole(3, 5), np.zeros(3)), (whole(1, 1), np.zeros(1))])
