"""Runs a function and a form of it on copies of the same arguments, and compares what they give."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from astile.errors import AstileError

#: Relative difference accepted where bits need not agree, by size of one real number.
_RELATIVE = {2: 4e-3, 4: 1e-4, 8: 1e-9}

Results = list[tuple[str, Any]]


@dataclass(frozen=True)
class Raised:
    """That a call raised an exception.

    Args:
        error: its type and its text.
    """

    error: str


def run(function: Callable[..., Any], args: Sequence[Any], names: Sequence[str]) -> Results:
    """What a call leaves behind: each array argument after it, and what it returned or raised.

    Args:
        function: is called with copies; their memory layout is that of the arguments.
        args: the arguments.
        names: of the parameters.
    """
    copies = [copied(each) for each in args]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            returned = function(*copies)
        except AstileError:
            raise
        except Exception as error:
            returned = Raised(f"{type(error).__name__}: {error}")
    found: Results = [
        (name, each)
        for name, each in zip(names, copies, strict=False)
        if isinstance(each, np.ndarray)
    ]
    return [*found, ("the returned value", returned)]


def copied(value: Any) -> Any:
    """A copy of an array, with its strides and flags; anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    made = np.copy(value, order="K")
    made.flags.writeable = value.flags.writeable
    return made


def difference(
    wanted: Results, got: Results, *, bitwise: bool, ignored: Collection[str] = ()
) -> str | None:
    """The first difference, in words, or None.

    Args:
        wanted: what the plain function gave.
        got: what the other form gave.
        bitwise: whether every bit has to agree; integers always have to.
        ignored: arguments whose contents do not matter.
    """
    for (label, one), (_, other) in zip(wanted, got, strict=True):
        if label in ignored:
            continue
        where = apart(one, other, bitwise=bitwise)
        if where is not None:
            return f"{label}{where}"
    return None


def apart(one: Any, other: Any, *, bitwise: bool) -> str | None:
    """Where two values differ, or None."""
    if isinstance(one, tuple):
        if not isinstance(other, tuple) or len(one) != len(other):
            return " is another tuple"
        return next(_inside(one, other, bitwise), None)
    if one is None or other is None or isinstance(one, Raised) or isinstance(other, Raised):
        return None if one == other else f" is {other}, not {one}"
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return f" has shape {other.shape}, not {one.shape}"
    exact = one.dtype.kind in "biu" and other.dtype.kind in "biu"
    same = _equal(one, other) if bitwise or exact else _close(one, other)
    if bool(np.all(same)):
        return None
    cell = tuple(int(each) for each in np.argwhere(~np.atleast_1d(same))[0])
    first, second = np.atleast_1d(one)[cell], np.atleast_1d(other)[cell]
    return f"{list(cell)} is {second}, not {first}"


def _inside(one: tuple[Any, ...], other: tuple[Any, ...], bitwise: bool) -> Iterator[str]:
    for position, (a, b) in enumerate(zip(one, other, strict=True)):
        where = apart(a, b, bitwise=bitwise)
        if where is not None:
            yield f"[{position}]{where}"


def _equal(one: Any, other: Any) -> Any:
    same = one == other
    if one.dtype.kind in "fc" and other.dtype.kind in "fc":
        same = same | (np.isnan(one) & np.isnan(other))
        same = same & ((np.signbit(one.real) == np.signbit(other.real)) | np.isnan(one))
    return same


def _close(one: Any, other: Any) -> Any:
    """Agreement up to rounding, measured against the largest finite magnitude."""
    sizes = [each.real.dtype.itemsize for each in (one, other) if each.dtype.kind in "fc"]
    tolerance = _RELATIVE[min([*sizes, 8])]
    wide = np.result_type(one, other, np.float64)
    a, b = one.astype(wide), other.astype(wide)
    with np.errstate(all="ignore"):
        finite = np.isfinite(a)
        scale = np.max(np.abs(a), initial=0.0, where=finite)
        near = np.abs(a - b) <= tolerance * (scale + np.abs(np.where(finite, a, 0.0)))
        same = (a == b) | (np.isnan(a) & np.isnan(b))
    return same | (near & finite & np.isfinite(b))
