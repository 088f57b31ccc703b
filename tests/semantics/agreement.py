"""Compares a function that Python runs with its kernels: values, types, and what is raised."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from astile.decorator import tile

TARGETS = ("python", "cpu", "emulate")


def array(dtype: str, *values: Any) -> Any:
    """A NumPy array of some values."""
    return np.array(values, dtype)


@dataclass(frozen=True)
class Outcome:
    """What a call leaves behind, in a form that compares by every bit but those of a NaN.

    Args:
        raised: the class of the exception; None where the call returned.
        arrays: type, shape and cells of each array argument.
        returned: type and value of what was returned.
    """

    raised: type[Exception] | None
    arrays: tuple[Any, ...]
    returned: Any


def outcome(function: Callable[..., Any], arguments: Sequence[Any]) -> Outcome:
    """Call a function with copies of arguments; their layout and flags are kept."""
    copies = [_copied(each) for each in arguments]
    raised, returned = None, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            returned = function(*copies)
        except Exception as error:
            raised = type(error)
    arrays = tuple(_told(each) for each in copies if isinstance(each, np.ndarray))
    return Outcome(raised, arrays, _told(returned))


def agrees(
    function: Callable[..., Any],
    *arguments: Any,
    targets: Sequence[str] = TARGETS,
    **options: Any,
) -> None:
    """Targets leave behind what Python does, to the last bit and with the same types."""
    plain = outcome(function, arguments)
    for target in targets:
        found = outcome(tile(target=target, **options)(function), arguments)
        assert found == plain, target


def _copied(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    made = np.copy(value, order="K")
    made.flags.writeable = value.flags.writeable
    return made


def _told(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_told, value))
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, repr(value.tolist())
    return type(value).__name__, repr(value)
