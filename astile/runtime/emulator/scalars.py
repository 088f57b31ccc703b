"""Scalar values as device code has them: integers are Python's, reals are NumPy scalars.

In numba every integer operation is done with 64 bits and an element of an array is cut to its
type when it is stored. Python integers give the same values, and are the fastest scalars here;
where an unsigned difference wraps, the instrumented text says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

MASK32 = 0xFFFF_FFFF


@cache
def caster(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    """The conversion of a value to an element type, as a store or a cast does it.

    Args:
        dtype: the element type.

    Raises:
        ValueError: by the conversion, for NaN to an integer, which has no defined value.
        OverflowError: by the conversion, for an infinity to an integer.
    """
    if dtype.kind == "b":
        return bool
    if dtype.kind not in "iu":
        return dtype.type
    info = np.iinfo(dtype)
    low, high, mask = int(info.min), int(info.max), (1 << 8 * dtype.itemsize) - 1

    def to_integer(value: Any) -> int:
        number = int(value)
        if low <= number <= high:
            return number
        number &= mask
        return number if number <= high else number - mask - 1

    return to_integer


def exact_type(dtype: np.dtype[Any]) -> type | None:
    """The type whose values need no conversion to `dtype`; None where the range matters too."""
    if dtype.kind == "b":
        return bool
    return None if dtype.kind in "iu" else dtype.type


def from_host(value: Any) -> Any:
    """An argument of a launch as device code sees it.

    Args:
        value: a Python or NumPy scalar; anything else is returned as it is.
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    return np.float64(value) if type(value) is float else value


def undefined(value: Any) -> Any:
    """What a lane gets that reads from a lane without a value: NaN or an extreme integer.

    Args:
        value: a value of the type concerned.
    """
    if isinstance(value, (float, complex, np.inexact)):
        return type(value)(np.nan)
    return False if isinstance(value, bool) else -(1 << 63)
