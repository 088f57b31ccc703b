"""After staging no access is left on the original, and views are the arrays they show."""

import ast

import numpy as np
import pytest

from astile.decorator import tile
from astile.errors import ArgumentError, AstileError
from astile.ir import query
from astile.schedule.schedule import Schedule
from tests.reliability.running import assert_same, whole


def twice_read(x, out):
    n = len(out)
    a = np.empty(n + 1, np.float64)
    for i in range(n + 1):
        a[i] = x[i] + 1.0
    for k in range(n):
        out[k] = a[k] * a[k + 1] + a[k]


def rows(A, out):
    n, m = A.shape
    for i in range(1, n):
        above = out[i - 1]
        for j in range(m):
            out[i, j] = above[j] + A[i, j]


def shift(a, b):
    for i in range(len(b) - 1):
        b[i] = a[i + 1] * 2.0


def test_every_access_is_redirected():
    s = Schedule(twice_read)
    outer, _ = s.split("k", [None, 4])
    s.compute_at("a", outer)
    s.set_scope("a", "local")
    names = {each.id for each in ast.walk(s.program.function) if isinstance(each, ast.Name)}
    assert "a" not in names
    assert len(query.accesses(s.program.function, "a_local")) == 4
    assert_same(s, twice_read, [(whole(n + 1), np.zeros(n)) for n in (0, 1, 3, 4, 5, 11)])


def test_a_view_is_the_array_it_shows():
    with pytest.raises(AstileError):
        Schedule(rows).parallel("i")


def test_the_same_array_twice_runs_the_original_loops():
    kernel = tile(i=4, target="python")(shift)
    x = np.arange(10.0)
    wanted = x.copy()
    shift(wanted, wanted)
    kernel(x, x)
    np.testing.assert_array_equal(x, wanted)


def test_overlapping_views_run_the_original_loops():
    kernel = tile(i=4, target="python")(shift)
    x, y = np.arange(12.0), np.arange(12.0)
    shift(x[1:], x[:-1])
    kernel(y[1:], y[:-1])
    np.testing.assert_array_equal(x, y)


def test_overlap_is_refused_where_the_original_order_cannot_run():
    kernel = tile(i=4, target="emulate")(shift)
    x = np.arange(10.0)
    with pytest.raises(ArgumentError, match=r"overlap|share|same memory"):
        kernel(x, x)
    np.testing.assert_array_equal(x, np.arange(10.0))
