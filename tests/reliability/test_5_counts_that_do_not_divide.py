"""Factors that do not divide the count, or each other, run every iteration exactly once."""

import numpy as np
import pytest

from astile.schedule.schedule import Schedule
from tests.reliability.running import assert_same, whole


def count(hits):
    for i in range(len(hits)):
        hits[i] += 1.0


def stages(x, out):
    n = len(out)
    a = np.empty(n + 2, np.float64)
    for i in range(n + 2):
        a[i] = x[i] * 3.0
    for k in range(n):
        out[k] = a[k] - a[k + 2]


SIZES = (0, 1, 9, 10, 11, 31, 32, 33, 47, 48, 49, 65, 97)
PAIRS = [(10, 32), (32, 10), (48, 32), (9, 8), (7, 5)]


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("inner", [True, False])
def test_a_split_of_a_split(first, second, inner):
    s = Schedule(count)
    outer_loop, inner_loop = s.split("i", [None, first])
    s.split(inner_loop if inner else outer_loop, [None, second])
    assert_same(s, count, [(np.zeros(n),) for n in SIZES])


@pytest.mark.parametrize(("producer", "consumer"), PAIRS)
def test_producer_and_consumer_tiled_by_different_factors(producer, consumer):
    s = Schedule(stages)
    s.split("a.i", [None, producer])
    outer, _ = s.split("k", [None, consumer])
    s.compute_at("a", outer)
    s.set_scope("a", "local")
    assert_same(s, stages, [(whole(n + 2), np.zeros(n)) for n in SIZES])


@pytest.mark.parametrize("factors", [[None, 4, 5], [None, 5, 4], [None, 1, 3]])
def test_three_ways(factors):
    s = Schedule(count)
    s.split("i", factors)
    assert_same(s, count, [(np.zeros(n),) for n in SIZES])
