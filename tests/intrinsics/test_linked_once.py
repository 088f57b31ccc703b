"""Functions that others call where they stand: no copy of them is compiled."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from astile.intrinsics.linked_once import linked_once  # noqa: E402


@linked_once
@numba.njit
def part(x: Any, y: Any, i: Any) -> None:
    y[i] = x[i] * x[i]


@linked_once
@numba.njit
def failing(x: Any) -> None:
    if x[0] > 0:
        raise ValueError("positive")


@numba.njit
def whole(x: Any, y: Any) -> None:
    for i in range(x.size):
        part(x, y, i)


@numba.njit
def fails(x: Any) -> None:
    failing(x)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_values_are_those_of_a_call(dtype: type) -> None:
    x, y = np.arange(3, dtype=dtype), np.zeros(3, dtype)
    whole(x, y)
    assert list(y) == [0, 1, 4]


def test_callers_hold_no_copy() -> None:
    whole(np.arange(3.0), np.zeros(3))
    code = whole.inspect_llvm(whole.signatures[-1])
    assert re.search(r"^declare .*part", code, re.MULTILINE)
    assert not re.search(r"^define .*part", code, re.MULTILINE)


def test_errors_reach_the_caller() -> None:
    with pytest.raises(ValueError, match="positive"):
        fails(np.ones(1))


def test_where_numba_compiles_nothing_a_function_stays_as_it_is() -> None:
    assert linked_once(len) is len
