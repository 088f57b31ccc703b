"""Python's search for garbage waits while a kernel is compiled, and goes on afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest

from astile.decorator import tile
from astile.errors import LoweringError
from astile.runtime import collector


@pytest.fixture(autouse=True)
def searching() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_it_waits_and_goes_on() -> None:
    with collector.waiting():
        assert not gc.isenabled()
        with collector.waiting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(ValueError, match="inside"), collector.waiting():
        raise ValueError("inside")
    assert gc.isenabled()


def test_it_stays_off_where_the_user_switched_it_off() -> None:
    gc.disable()
    with collector.waiting():
        assert not gc.isenabled()
    assert not gc.isenabled()


def double(x, y):
    for i in range(x.shape[0]):
        y[i] = 2 * x[i]


def unknown_to_numba(x, y):
    for i in range(x.shape[0]):
        y[i] = np.base_repr(x[i])


def test_calls_leave_it_as_it_was() -> None:
    x, y = np.arange(5.0), np.zeros(5)
    tile(target="cpu")(double)(x, y)
    assert gc.isenabled()
    assert (y == 2 * x).all()


def test_what_cannot_be_compiled_leaves_it_as_it_was() -> None:
    with pytest.raises(LoweringError):
        tile(target="cpu")(unknown_to_numba)(np.arange(5), np.zeros(5))
    assert gc.isenabled()
