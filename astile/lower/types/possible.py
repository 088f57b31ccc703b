"""What a value may be in the plain program: a kind and, for a number of the text, the number.

A number of Python takes the type of what is beside it. So ``0.5`` where the data may also choose a
float32 is harmless as long as float32 gives the same: its sum with a float32 is one for both, and
twice ``0.5`` is 1.0 in both; ``0.5 * 0.1`` is not the same number in float32 and in float64.
"""

from __future__ import annotations

import ast
import cmath
import contextlib
import math
import operator
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from astile.ir.operators import BINARY
from astile.lower.types import promotion
from astile.lower.types.promotion import PYTHON, family

#: So many numbers of one kind are told apart; more are any number of that kind.
_MOST = 4
#: Beyond this, integers are not computed here.
_LARGEST = 2**63
#: Powers and shifts may be of any length.
_OPERATORS = {
    each: function
    for each, function in BINARY.items()
    if each not in (ast.Pow, ast.LShift, ast.RShift)
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class Possible(NamedTuple):
    """One of the values that an expression may have.

    Args:
        kind: its type, see `promotion`.
        number: a number of Python that the text tells; None for any.
    """

    kind: str
    number: complex | None = None


#: All that a value may be; None where one of its types is not known.
Several = frozenset[Possible] | None


def one(kind: str | None) -> Several:
    """A value of one kind; nothing yet for ``"?"``."""
    if kind is None:
        return None
    return frozenset() if kind == "?" else frozenset([Possible(kind)])


def number(value: complex) -> Possible:
    """A number of the text."""
    is_nan = cmath.isnan(value)
    return Possible(type(value).__name__, math.nan if is_nan and value.imag == 0 else value)


def union(found: Iterable[Several]) -> Several:
    """All that one of several values may be; many numbers of a kind are any."""
    whole: set[Possible] = set()
    for each in found:
        if each is None:
            return None
        whole |= each
    if len(whole) < 2:
        return frozenset(whole)
    kinds = [each.kind for each in whole]
    open_ = {each.kind for each in whole if each.number is None and each.kind in PYTHON}
    open_ |= {kind for kind in kinds if kinds.count(kind) > _MOST}
    kept = {each for each in whole if each.kind not in open_}
    return frozenset(kept | {Possible(each) for each in open_})


def kinds(found: Several) -> frozenset[str] | None:
    """The types of some values."""
    return None if found is None else frozenset(each.kind for each in found)


def binary(left: Several, op: ast.operator, right: Several) -> Several:
    """What ``left op right`` may be in the plain program."""
    if left is None or right is None:
        return None
    made = []
    for first, second in _pairs(left, right):
        kind = promotion.binary(first.kind, type(op), second.kind)
        if kind is not None:
            made.append(frozenset([Possible(kind, _computed(first, type(op), second, kind))]))
    return union(made)


def _pairs(
    left: Collection[Possible], right: Collection[Possible]
) -> Iterator[tuple[Possible, Possible]]:
    for first in left:
        for second in right:
            yield first, second


def _computed(left: Possible, op: type[ast.operator], right: Possible, kind: str) -> complex | None:
    """The number that Python computes of two, where they tell it."""
    if kind not in PYTHON:
        return None
    if left.number == 0 and op in (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod):
        return _zero(kind) if right.number is None else _of_numbers(left, op, right)
    if right.number == 0 and op is ast.Mult and left.number is None:
        return _zero(kind)
    return _of_numbers(left, op, right)


def _zero(kind: str) -> complex:
    zeros: dict[str, complex] = {"int": 0, "float": 0.0, "complex": 0j, "bool": False}
    return zeros[kind]


def _of_numbers(left: Possible, op: type[ast.operator], right: Possible) -> complex | None:
    if left.number is None or right.number is None or op not in _OPERATORS:
        return None
    try:
        found = _OPERATORS[op](left.number, right.number)
    except (ArithmeticError, TypeError):
        return None
    if isinstance(found, int) and abs(found) >= _LARGEST:
        return None
    return number(found).number


def is_held(value: complex, kind: str) -> bool:
    """Whether a type holds a number of the text exactly; float32 has to for all wider ones."""
    own, group = type(value).__name__, family(kind)
    if own == "bool" or group == "b":
        return own == "bool"
    if group in "iu":
        return own == "int" and np.iinfo(kind).min <= value.real <= np.iinfo(kind).max
    if own == "complex" and group == "f":
        return False
    narrow = np.float16 if kind == "float16" else np.float32
    with np.errstate(over="ignore"), contextlib.suppress(OverflowError):
        parts = complex(value)
        return all(p != p or float(narrow(p)) == p for p in (parts.real, parts.imag))
    return False


def are_of(found: Several, kind: str | None) -> bool:
    """Whether values are of one kind, or numbers of the text that it holds exactly."""
    if found is None or kind is None:
        return False
    return all(
        each.kind == kind or (each.number is not None and is_held(each.number, kind))
        for each in found
    )


def results(
    left: Several, op: ast.operator, right: Several, rounded: str | None = None
) -> frozenset[str | None] | None:
    """The types of ``left op right``; numbers that all other types give too are left out.

    None in them stands for operands that the plain program raises a TypeError for.

    Args:
        left: all that one operand may be.
        op: the operator.
        right: all that the other may be.
        rounded: the type that whatever uses the result rounds it to.
    """
    if left is None or right is None:
        return None
    found: set[str | None] = set()
    sums: set[str | None] = set()
    numbers: list[tuple[Possible, Possible, str]] = []
    for first, second in _pairs(left, right):
        kind = promotion.binary(first.kind, type(op), second.kind)
        if kind in PYTHON and _computed(first, type(op), second, kind) is not None:
            numbers.append((first, second, kind))
        elif (
            kind == "float"
            and isinstance(op, (ast.Add, ast.Sub))
            and 0 in (first.number, second.number)
        ):
            sums.add(kind)
        else:
            found.add(kind)
    if found != {rounded}:  # what is added to zero and rounded is what its type gives
        found |= sums
    return frozenset(found | set(_own_kinds(found, numbers, op, rounded)))


def _own_kinds(
    found: Collection[str | None],
    numbers: Iterable[tuple[Possible, Possible, str]],
    op: ast.operator,
    rounded: str | None,
) -> Iterator[str]:
    """The types of numbers that come out otherwise in the types of other results."""
    for first, second, kind in numbers:
        value = _computed(first, type(op), second, kind)
        same = (
            each is not None
            and _is_same(first, op, second, value, each, is_rounded=each == rounded)
            for each in found
        )
        if not found or not all(same):
            yield kind


def _is_same(
    left: Possible,
    op: ast.operator,
    right: Possible,
    value: complex | None,
    kind: str,
    *,
    is_rounded: bool,
) -> bool:
    """Whether two numbers of Python give the same in another type, to which it may be rounded."""
    if value is None or not (is_rounded or is_held(value, kind)):
        return False
    if left.number is None or right.number is None:
        return value == 0
    if not (is_held(left.number, kind) or is_held(right.number, kind)):
        return False
    try:
        with np.errstate(all="ignore"):
            typed = [np.array([each], kind) for each in (left.number, right.number)]
            found = _OPERATORS[type(op)](*typed)[0]
            expected = np.array([value], kind)[0] if is_rounded else value
    except (OverflowError, TypeError):
        return False
    return _are_equal(found, expected)


def _are_equal(first: complex, second: complex) -> bool:
    if first != first or second != second:
        return first != first and second != second
    return first == second and np.signbit(np.real(first)) == np.signbit(np.real(second))


def compares_alike(left: Possible, op: ast.cmpop, right: Possible, kind: str) -> bool:
    """Whether two numbers of Python compare in another type as they do in Python."""
    known = [each.number for each in (left, right) if each.number is not None]
    if not known or type(op) not in _COMPARISONS:
        return False
    if len(known) == 1:  # zero and infinities keep their place among rounded numbers
        return known[0] == 0 or (not isinstance(known[0], int) and cmath.isinf(known[0]))
    try:
        with np.errstate(all="ignore"):
            typed = [np.array(each, kind) for each in known]
        compare = _COMPARISONS[type(op)]
        return bool(compare(*typed) == compare(*known))
    except (OverflowError, TypeError):
        return False
