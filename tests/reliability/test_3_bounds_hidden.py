"""Bounds that depend on an outer loop through min, and, or the step are read from the domain."""

import numpy as np
import pytest

from astile.errors import AstileError
from astile.schedule.schedule import Schedule
from tests.reliability.running import assert_same, whole


def upto_min(x, out, c):
    n = len(x)
    for i in range(n):
        for j in range(min(i, c)):
            out[i] = out[i] + x[j]


def guarded(x, out):
    n = len(x)
    for i in range(n):
        for j in range(n):
            if j <= i and j + i < n:
                out[j] = x[i] - out[j]


def stepped(x, out):
    n = len(x)
    for i in range(0, n, 2):
        for j in range(i, n, 3):
            out[j] = out[j] * 2.0 + x[i]


def band(x, out):
    n, m = x.shape
    for i in range(n):
        for j in range(max(0, i - 1), min(m, i + 2)):
            out[i, j] = x[i, j] + 1.0


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (upto_min, [(whole(n), np.zeros(n), c) for n in (0, 1, 5) for c in (0, 3, 9)]),
        (guarded, [(whole(n), whole(n, seed=1)) for n in (0, 1, 2, 6)]),
        (stepped, [(whole(n), whole(n, seed=1)) for n in (0, 1, 2, 7)]),
        (band, [(whole(n, m), np.zeros((n, m))) for n in (0, 1, 4) for m in (0, 1, 5)]),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
@pytest.mark.parametrize("step", ["reorder", "split i", "split j", "tile"])
def test_accepted_means_the_same(function, calls, step):
    s = Schedule(function)
    try:
        match step:
            case "reorder":
                s.reorder("j", "i")
            case "tile":
                s.tile(["i", "j"], [2, 3])
            case _:
                s.split(step[-1], [None, 2])
    except AstileError:
        assert not step.startswith("split"), "splitting a loop is always legal"
        return
    assert_same(s, function, calls)


def test_independent_bands_may_be_interchanged():
    Schedule(band).reorder("j", "i")


def test_the_order_of_updates_of_one_cell_is_kept():
    with pytest.raises(AstileError):
        Schedule(upto_min).parallel("j")
