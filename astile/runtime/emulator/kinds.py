"""Types of device values, and numba's rules for what operations make of them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Boolean:
    """True or false; arithmetic takes it for an integer."""


@dataclass(frozen=True)
class Integer:
    """An integer of device code.

    Args:
        signed: whether operations on it are signed.
        bits: its magnitude is below 2 ** bits.
        natural: whether it is known not to be negative; unsigned ones never are.
        width: bits of its type; results of operations have 64.
    """

    signed: bool
    bits: int
    natural: bool
    width: int = 64

    def meets(self, real: Real) -> Real:
        """What arithmetic with a real number of at most 64 bits gives."""
        if self.width == 8 and self.signed:
            return real
        is_small = self.width == 8 or (self.width == 16 and self.signed)
        return Real(max(real.bits, 32)) if is_small else FLOAT64


@dataclass(frozen=True)
class Real:
    """A floating-point number of 16, 32 or 64 bits."""

    bits: int


@dataclass(frozen=True)
class ArrayOf:
    """An array of known rank."""

    rank: int
    dtype: np.dtype[Any]
    local: bool = False


@dataclass(frozen=True)
class TupleOf:
    """A tuple; `items` is None when its length is not known."""

    items: tuple[Type, ...] | None
    each: Type = None


@dataclass(frozen=True)
class Nothing:
    """Type of a variable nothing was assigned to yet."""


NOTHING = Nothing()
Type = Boolean | Integer | Real | ArrayOf | TupleOf | Nothing | None

INT64 = Integer(signed=True, bits=64, natural=False)
UINT64 = Integer(signed=False, bits=64, natural=True)
BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
EXTENT = Integer(signed=True, bits=40, natural=True)
FLOAT64 = Real(64)
BOOLEAN = Boolean()


def of_dtype(dtype: np.dtype[Any]) -> Type:
    """Type of the elements of an array."""
    width = 8 * dtype.itemsize
    if dtype.kind == "i":
        return Integer(signed=True, bits=width, natural=False, width=width)
    if dtype.kind == "u":
        return Integer(signed=False, bits=width, natural=True, width=width)
    if dtype.kind == "b":
        return BOOLEAN
    return Real(8 * dtype.itemsize) if dtype.kind == "f" else None


def dtype_of(kind: Type) -> np.dtype[Any] | None:
    """Type of an element that holds a value; None where it is not known."""
    if isinstance(kind, Integer):
        return np.dtype(f"{'i' if kind.signed else 'u'}{kind.width // 8}")
    if isinstance(kind, Boolean):
        return np.dtype(bool)
    return np.dtype(f"f{kind.bits // 8}") if isinstance(kind, Real) else None


def of_ufunc(function: np.ufunc, arguments: list[Type]) -> Type:
    """Type of a call of a function of NumPy; None where it is not known."""
    given = [dtype_of(each) for each in arguments]
    if None in given or len(given) != function.nin or function.nout != 1:
        return None
    try:
        return of_dtype(function.resolve_dtypes((*given, None))[-1])
    except TypeError:
        return None


def of_value(value: Any) -> Type:
    """Type of a constant of the module, or of an argument of a launch."""
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, np.generic):
        return of_dtype(value.dtype)
    if isinstance(value, int):
        return Integer(signed=True, bits=value.bit_length(), natural=value >= 0)
    if isinstance(value, float):
        return FLOAT64
    return TupleOf(tuple(map(of_value, value))) if isinstance(value, tuple) else None


def join(first: Type, second: Type) -> Type:
    """Type of a variable that is assigned both."""
    if first == second or second is NOTHING:
        return first
    if first is NOTHING:
        return second
    if isinstance(first, Integer) and isinstance(second, Integer):
        return Integer(
            first.signed or second.signed,
            max(first.bits, second.bits),
            first.natural and second.natural,
            max(first.width, second.width) if first.signed == second.signed else 64,
        )
    if isinstance(first, Real) and isinstance(second, Real):
        return Real(max(first.bits, second.bits))
    return None


def unify(first: Type, second: Type) -> Type:
    """Type of an expression whose value is one of two.

    Unlike a variable, which may hold both in turn, it always has the wider type.
    """
    if isinstance(first, Real) and isinstance(second, (Integer, Boolean)):
        return _mixed(second, first)
    if isinstance(second, Real) and isinstance(first, (Integer, Boolean)):
        return _mixed(first, second)
    return join(first, second)


def _mixed(whole: Integer | Boolean, real: Real) -> Type:
    """Type of an integer together with a real number."""
    return real if isinstance(whole, Boolean) else whole.meets(real)


def binary(operator: ast.operator, left: Type, right: Type) -> Type:
    """Type of ``left op right``."""
    if left is NOTHING or right is NOTHING:
        return NOTHING
    if isinstance(left, Boolean) and isinstance(right, Boolean) and isinstance(operator, BITWISE):
        return BOOLEAN
    if isinstance(left, Real) or isinstance(right, Real):
        return _real_binary(operator, left, right)
    left, right = as_integer(left), as_integer(right)
    if isinstance(left, Integer) and isinstance(right, Integer):
        return _integer_binary(operator, left, right)
    return None


def _real_binary(operator: ast.operator, left: Type, right: Type) -> Type:
    known = (Boolean, Integer, Real)
    if not isinstance(left, known) or not isinstance(right, known):
        return None
    is_power = isinstance(operator, ast.Pow) and isinstance(right, Integer)
    result = left if is_power and isinstance(left, Real) else unify(left, right)
    # a device has no such instructions of 16 bits
    has_half = not isinstance(operator, (ast.FloorDiv, ast.Mod, ast.Pow))
    return Real(32) if result == Real(16) and not has_half else result


def as_integer(kind: Type) -> Type:
    """A boolean as what arithmetic makes of it; other types as they are."""
    return Integer(signed=True, bits=1, natural=True) if isinstance(kind, Boolean) else kind


def _integer_binary(operator: ast.operator, left: Integer, right: Integer) -> Type:
    natural = left.natural and right.natural
    bits = 64
    match operator:
        case ast.Div():
            return FLOAT64
        case ast.Pow() | ast.MatMult():
            return INT64
        case ast.Add():
            bits = max(left.bits, right.bits) + 1
        case ast.Sub():
            natural = False
            bits = max(left.bits, right.bits) + 1
        case ast.Mult():
            bits = left.bits + right.bits
        case ast.FloorDiv() | ast.RShift():
            bits = left.bits
        case ast.Mod():
            natural = right.natural
            bits = right.bits
        case ast.BitAnd():
            bounds = [side.bits for side in (left, right) if side.natural]
            natural = bool(bounds)
            bits = min(bounds, default=64)
        case ast.BitOr() | ast.BitXor():
            bits = max(left.bits, right.bits)
    signed = left.signed or right.signed
    if isinstance(operator, (ast.LShift, ast.RShift)):
        signed = left.signed
    if not signed and isinstance(operator, ast.Sub):
        return UINT64
    return Integer(signed, min(bits, 64), natural or not signed)


def unary(operator: ast.unaryop, operand: Type) -> Type:
    """Type of ``op operand``."""
    if isinstance(operator, ast.Not):
        return BOOLEAN
    if not isinstance(operator, ast.Invert):
        operand = as_integer(operand)
    if not isinstance(operand, Integer):
        return operand
    if isinstance(operator, ast.UAdd):
        return replace(operand, width=64)
    if not operand.signed:
        return UINT64
    return Integer(signed=True, bits=min(operand.bits + 1, 64), natural=False)


def cast_type(dtype: np.dtype[Any], operand: Type) -> Type:
    """Type of ``dtype(operand)``."""
    kind = of_dtype(dtype)
    if isinstance(kind, Integer) and isinstance(operand, Integer) and operand.natural:
        fits = operand.bits <= kind.bits - kind.signed
        bits = operand.bits if fits else kind.bits
        return Integer(kind.signed, bits, fits or not kind.signed, kind.width)
    return kind


def of_builtin(function: Callable[..., Any], arguments: list[Type]) -> Type:
    """Type of a call of `len`, `int`, `float`, `abs`, `min` or `max`."""
    if function is len:
        return EXTENT
    if function is float:
        return arguments[0] if isinstance(arguments[0], Real) else FLOAT64
    if function is int:
        return arguments[0] if isinstance(arguments[0], Integer) else INT64
    result: Type = NOTHING
    for argument in arguments:
        result = unify(result, argument)
    if function is abs and isinstance(result, Integer):
        return replace(result, natural=True)
    return result
