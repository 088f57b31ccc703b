"""Integers that meet real numbers of 16 or 32 bits, where their types are known only at run time.

NumPy takes an integer of Python for one that adapts to what it meets; on the device it has 64
bits, and what they make is a float64.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

_NARROW = (np.float16, np.float32, np.complex64)
_FUNCTIONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Small(int):
    """An integer of so few bits that a float32 holds it; what it makes of integers has 64."""


class Narrow(Small):
    """A small integer that makes a float16 of a float16."""


def meeting(kind: ast.operator | ast.cmpop) -> Callable[[Any, Any], Any] | None:
    """An operation or a comparison as the device does it; None where no real number takes part.

    Args:
        kind: the operator.
    """
    function = _FUNCTIONS.get(type(kind))
    if function is None:
        return None
    is_power = isinstance(kind, ast.Pow)

    def met(left: Any, right: Any) -> Any:
        if isinstance(left, int) and isinstance(right, _NARROW):
            left = _beside(left, right)
        elif isinstance(right, int) and isinstance(left, _NARROW) and not is_power:
            right = _beside(right, left)
        return function(left, right)

    return met


def _beside(value: int, real: Any) -> Any:
    """An integer as what it is beside a narrow real: one that adapts to it, or a wider real."""
    if isinstance(value, (bool, Narrow)):
        return int(value)
    if not isinstance(value, Small):
        return np.float64(value)
    return np.float32(value) if isinstance(real, np.float16) else int(value)
