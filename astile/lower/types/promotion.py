"""Types of arithmetic: what NumPy and Python compute in, and what numba makes of the same operands.

A *kind* is the name of a NumPy type (``"float32"``, ``"bool_"``), or ``"bool"``, ``"int"``,
``"float"``, ``"complex"`` for numbers of Python, which take the type of the NumPy operand beside
them (NEP 50). None is unknown. NumPy is asked itself, by `resolve_dtypes` of its functions.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection

import numpy as np

Kind = str | None
#: Numbers of Python, each family containing the ones before it.
PYTHON = ("bool", "int", "float", "complex")
#: Integer types that wrap around earlier than numba's arithmetic, which is 64 bit wide.
NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32")
#: Kinds of floating-point numbers that numba leaves as soon as another operand is there.
FRAGILE = ("float16", "float32", "complex64")
#: What numba holds a number of Python in.
_NATIVE = {"bool": "bool_", "int": "int64", "float": "float64", "complex": "complex128"}
_CLASSES: dict[str, type] = {"bool": bool, "int": int, "float": float, "complex": complex}
_UFUNCS: dict[type[ast.operator], np.ufunc] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.remainder,
    ast.Pow: np.power,
    ast.LShift: np.left_shift,
    ast.RShift: np.right_shift,
    ast.BitAnd: np.bitwise_and,
    ast.BitOr: np.bitwise_or,
    ast.BitXor: np.bitwise_xor,
}
#: Family of a kind -> families of what a target gives for it.
_LIKE = {"b": "b", "i": "iu", "u": "iu", "f": "f", "c": "c"}
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
_SHIFTS = (ast.LShift, ast.RShift)


def kind_of(dtype: np.dtype[np.generic]) -> str:
    """The kind of the elements of an array."""
    return "bool_" if dtype.kind == "b" else str(dtype.name)


def family(kind: str) -> str:
    """``"b"``, ``"i"``, ``"u"``, ``"f"`` or ``"c"``, for kinds of NumPy and of Python."""
    return np.dtype(native(kind)).kind


def is_integer(kind: Kind) -> bool:
    """Whether values of a kind are integers, truth values left out."""
    return kind is not None and family(kind) in "iu"


def native(kind: str) -> str:
    """The type in which numba holds a value of a kind."""
    return _NATIVE.get(kind, kind)


@functools.lru_cache(maxsize=4096)
def of_ufunc(function: np.ufunc, *kinds: str) -> tuple[str, ...] | None:
    """The kinds of the operands and of the result of a function of NumPy, None where it raises.

    Args:
        function: with one result.
        kinds: of its arguments.
    """
    typed = [np.dtype(_NATIVE[each]) if each in PYTHON else np.dtype(each) for each in kinds]
    asked: list[object] = list(typed)
    if not all(each in PYTHON for each in kinds):  # numbers of Python among themselves are not weak
        for position, each in enumerate(kinds):
            if each in PYTHON and each != "bool":
                asked[position] = _CLASSES[each]
    try:
        found = function.resolve_dtypes((*asked, None))  # type: ignore[arg-type]
    except TypeError:
        return None
    return tuple(kind_of(each) for each in found)


def binary(left: Kind, operator: type[ast.operator], right: Kind) -> Kind:
    """The kind of ``left operator right`` in plain Python with NumPy."""
    if left is None or right is None or operator not in _UFUNCS:
        return None
    if left in PYTHON and right in PYTHON:
        return _of_python(left, operator, right)
    found = of_ufunc(_UFUNCS[operator], left, right)
    return None if found is None else found[-1]


def as_kind(value: object, kind: Kind) -> object:
    """A number in the type of a kind; what is no number of that kind stays as it is.

    Args:
        value: anything.
        kind: the type that a number has in the plain program.
    """
    if kind is None or not isinstance(value, (bool, int, float, complex, np.generic)):
        return value
    if np.result_type(type(value)).kind not in _LIKE[family(kind)]:
        return value
    return _CLASSES[kind](value) if kind in PYTHON else np.asarray(value).astype(kind)[()]


def is_arithmetic(operator: type[ast.operator]) -> bool:
    """Whether the types that an operator takes are known here."""
    return operator in _UFUNCS


def operands(left: str, operator: type[ast.operator], right: str) -> tuple[str, str] | None:
    """The kinds in which NumPy computes the two operands."""
    found = of_ufunc(_UFUNCS[operator], left, right)
    return None if found is None else (found[0], found[1])


def _of_python(left: str, operator: type[ast.operator], right: str) -> Kind:
    both = max(left, right, key=PYTHON.index)
    if issubclass(operator, _BITWISE):
        return both if both in ("bool", "int") else None
    if issubclass(operator, _SHIFTS):
        return "int" if both in ("bool", "int") else None
    if issubclass(operator, ast.Div):
        return max(both, "float", key=PYTHON.index)
    if both == "complex" and issubclass(operator, (ast.FloorDiv, ast.Mod)):
        return None
    return max(both, "int", key=PYTHON.index)


def promoted(left: Kind, right: Kind) -> Kind:
    """The kind of a sum of two kinds."""
    return binary(left, ast.Add, right)


def may_round_integers(kinds: Collection[str | None]) -> bool:
    """Whether a value of one of some kinds is held as float64, which may round its integers."""
    known = {each for each in kinds if each is not None}
    if known.isdisjoint(("int64", "uint64")):
        return False
    is_signed = any(each in ("bool_", "int") or family(each) == "i" for each in known)
    return ("uint64" in known and is_signed) or any(family(each) in "fc" for each in known)


def in_numba(left: str, operator: type[ast.operator], right: str) -> Kind:
    """The type that numba computes ``left operator right`` in, None where that is not known.

    Args:
        left: type of the left operand in the text.
        operator: the class of the operator.
        right: type of the right operand in the text.
    """
    families = family(left) + family(right)
    if issubclass(operator, _BITWISE) and families == "bb":
        return "bool_"
    if issubclass(operator, _SHIFTS):
        return "uint64" if families[0] == "u" else "int64"
    if set(families) <= set("biu") and not issubclass(operator, ast.Div):
        if families == "bi" and issubclass(operator, ast.Pow):
            return None  # int32 gives float32
        return "uint64" if families == "uu" else "int64"
    if issubclass(operator, ast.Pow) and left == "float32" and families[1] in "iu":
        return "float32"
    found = of_ufunc(_UFUNCS[operator], left, right)
    return None if found is None else found[-1]


def joined(first: Kind, second: Kind) -> Kind:
    """The kind of a name that holds both, None where they do not agree.

    A number of Python takes the type that is added to it later.
    """
    if first == "?" or first == second:
        return second
    if second == "?":
        return first
    if first is None or second is None:
        return None
    if first in PYTHON and second in PYTHON:
        return max(first, second, key=PYTHON.index)
    if (first in PYTHON) == (second in PYTHON):
        return None
    typed, plain = (second, first) if first in PYTHON else (first, second)
    return typed if _holds(typed, plain) else None


def _holds(typed: str, plain: str) -> bool:
    """Whether a NumPy type can hold what a number of Python of some kind may be."""
    if plain == "bool":
        return typed == "bool_"
    order = "iufc"
    least = {"int": "i", "float": "f", "complex": "c"}[plain]
    if family(typed) == "b":
        return False
    return order.index(family(typed)) >= order.index(least)


def number_of(value: ast.expr) -> float | None:
    """The value of a literal."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        inner = number_of(value.operand)
        return None if inner is None else -inner
    if isinstance(value, ast.Constant) and type(value.value) in (int, float):
        return value.value  # type: ignore[return-value]
    return None


def is_held(value: ast.expr, kind: str) -> bool:
    """Whether an integer type holds a literal."""
    number = number_of(value)
    if number is None or family(kind) not in "iu":
        return False
    info = np.iinfo(kind)
    return number == int(number) and info.min <= number <= info.max
