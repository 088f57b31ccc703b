"""A call like one before is not checked again; one that differs in anything that counts is."""

import numpy as np
import pytest

from astile import tile
from astile.errors import ArgumentError
from astile.runtime import arguments


def add(a, b, c, out):
    for i in range(out.shape[0]):
        out[i] = a[i] + b[i] * c


@pytest.fixture
def kernel():
    return tile(add, target="python", schedule=lambda s: None)


@pytest.fixture
def checks(monkeypatch):
    """The calls of `arguments.check` so far."""
    seen = []
    check = arguments.check

    def counted(*given):
        seen.append(given)
        return check(*given)

    monkeypatch.setattr(arguments, "check", counted)
    return seen


def arrays(size=5, dtype=np.float64):
    return tuple(np.full(size, each, dtype) for each in (1, 2, 0))


def test_a_second_call_of_one_kind_is_not_checked(kernel, checks):
    a, b, out = arrays()
    kernel(a, b, 3.0, out)
    assert len(checks) == 1
    for each in (arrays(), (a.copy(), b, out)):
        kernel(each[0], each[1], 3.0, each[2])
        np.testing.assert_array_equal(each[2], 7)
    kernel(a=a, b=b, c=3.0, out=out)
    assert len(checks) == 1


@pytest.mark.parametrize(
    "other",
    [
        (*arrays(6)[:2], 3.0, arrays(6)[2]),
        (*arrays(dtype=np.float32)[:2], 3.0, arrays()[2]),
        (np.full(10, 1.0)[::2], arrays()[1], 3.0, arrays()[2]),
        (*arrays()[:2], 3, arrays()[2]),
        (*arrays()[:2], 4.0, arrays()[2]),
        (*arrays()[:2], np.float64(3), arrays()[2]),
    ],
    ids=["shape", "dtype", "strides", "class of a number", "number", "scalar of NumPy"],
)
def test_a_call_of_another_kind_is_checked(kernel, checks, other):
    a, b, out = arrays()
    kernel(a, b, 3.0, out)
    kernel(*other)
    assert len(checks) == 2
    np.testing.assert_array_equal(other[3], 1 + 2 * other[2])


def test_what_is_wrong_is_refused_after_calls_that_were_right(kernel, checks):
    a, b, out = arrays()
    kernel(a, b, 3.0, out)
    out.flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        kernel(a, b, 3.0, out)
    with pytest.raises(ArgumentError, match="a\\[i\\]"):
        kernel(a[:2], b, 3.0, arrays()[2])


def test_arrays_that_meet_in_memory_are_looked_at_each_time(kernel, checks):
    whole = np.arange(12.0)
    a, out = whole[:5], whole[7:]
    kernel(a, a, 1.0, out)
    whole = np.arange(12.0)
    kernel(whole[:5], whole[:5], 1.0, whole[1:6])
    assert len(checks) == 2
    np.testing.assert_array_equal(whole[:6], [0, 0, 0, 0, 0, 0])
    kernel(a, a, 1.0, out)
    assert len(checks) == 2


def test_an_array_that_owns_its_memory_meets_itself_and_its_views(kernel, checks):
    a, b, out = arrays()
    kernel(a, b, 1.0, out)
    for first, second in ((out, out), (out, out[:]), (out[:], out), (out[:], out[:])):
        out[:] = 1
        kernel(first, b, 1.0, second)
        np.testing.assert_array_equal(out, 3)
    assert len(checks) == 5


def test_calls_of_two_kinds_by_turns_are_not_checked(kernel, checks):
    for _ in range(3):
        for a, b, out in (arrays(), arrays(6)):
            kernel(a, b, 3.0, out)
            np.testing.assert_array_equal(out, 7)
    assert len(checks) == 2


def test_arrays_that_nobody_writes_may_meet(kernel, checks):
    a, _, out = arrays()
    kernel(a, a, 2.0, out)
    kernel(a, a, 2.0, out)
    assert len(checks) == 1


def test_calls_of_many_kinds_do_not_pile_up(kernel):
    a, b, out = arrays(1)
    for number in range(300):
        kernel(a, b, float(number), out)
    assert out[0] == 1 + 2 * 299
    assert len(kernel._repeats._known) <= 128


def test_errors_of_the_loops_pass_through():
    def halves(n, out):
        out[0] = 1 / n

    kernel = tile(halves, target="python", schedule=lambda s: None)
    out = np.zeros(1)
    kernel(2, out)
    kernel(2, out)
    assert out[0] == 0.5
    with pytest.raises(ZeroDivisionError):
        kernel(0, out)
