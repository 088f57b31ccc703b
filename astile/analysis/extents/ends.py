"""The least and the greatest value of an index to which data contribute, over known integers."""

from __future__ import annotations

import ast
from typing import Protocol

from astile.analysis.forms import affine_sets
from astile.analysis.forms.affine_sets import Quasi, Scope

#: Least and greatest value.
Ends = tuple[Quasi, Quasi]


class Values(Protocol):
    """What is known of the integers that data give, for the types of a call."""

    def of(self, value: ast.expr, /) -> tuple[int, int] | None:
        """The least and the greatest value of an integer; None where it may be none."""

    def is_wide(self, value: ast.expr, /) -> bool:
        """Whether arithmetic gives what it gives in Python, and does not wrap around earlier."""


def ends(value: ast.expr, scope: Scope, values: Values) -> Ends | None:
    """The ends of an integer, or None where it is not known to be one.

    Args:
        value: an expression.
        scope: what is known of names where it stands.
        values: what is known of others.
    """
    exact = affine_sets.quasi(value, scope)
    if exact is not None:
        return exact, exact
    found = values.of(value)
    if found is None:
        return None
    made = _computed(value, scope, values)
    return (affine_sets.const(found[0]), affine_sets.const(found[1])) if made is None else made


def _computed(value: ast.expr, scope: Scope, values: Values) -> Ends | None:
    """The ends by those of the operands; None where the type of the value tells more."""
    match value:
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            divisor = affine_sets.quasi(right, scope)
            if divisor is None or divisor.value is not None or values.of(left) is None:
                return None
            return _remainder(divisor)
        case ast.BinOp(left=left, op=op, right=right) if values.is_wide(value):
            first = ends(left, scope, values)
            second = None if first is None else ends(right, scope, values)
            return None if first is None or second is None else _binary(first, op, second)
        case ast.Call(func=ast.Name(id="min" | "max" as word), args=arguments, keywords=[]):
            if word in scope.hidden or len(arguments) < 2:
                return None
            parts = [ends(each, scope, values) for each in arguments]
            known = [each for each in parts if each is not None]
            if len(known) < len(parts):
                return None
            lows, highs = ([each[side] for each in known] for side in (0, 1))
            return affine_sets.extreme(word, lows), affine_sets.extreme(word, highs)
    return None


def _remainder(divisor: Quasi) -> Ends | None:
    """The ends of a remainder, whatever the sign of the divisor; by zero NumPy gives zero."""
    zero, one = affine_sets.const(0), affine_sets.const(1)
    low = affine_sets.extreme("min", [zero, divisor.plus(one)])
    return low, affine_sets.extreme("max", [zero, divisor.plus(one, -1)])


def _binary(left: Ends, op: ast.operator, right: Ends) -> Ends | None:
    match op:
        case ast.Add():
            return left[0].plus(right[0]), left[1].plus(right[1])
        case ast.Sub():
            return left[0].plus(right[1], -1), left[1].plus(right[0], -1)
        case ast.Mult():
            factor = _number(right)
            if factor is None:
                left, factor = right, _number(left)
            if factor is None:
                return None
            low, high = (each.times(factor) for each in left)
            return (low, high) if factor >= 0 else (high, low)
        case ast.FloorDiv():
            divisor = _number(right)
            if divisor is None or divisor <= 0:
                return None
            return affine_sets.floor_div(left[0], divisor), affine_sets.floor_div(left[1], divisor)
    return None


def _number(both: Ends) -> int | None:
    return both[0].value if both[0] == both[1] else None
