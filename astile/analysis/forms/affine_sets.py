"""Python integer expressions and conditions as isl text, under what is known of their names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from astile.analysis.forms import clamps
from astile.ir import query

#: Parameters start with ``n_`` (integers), ``s<axis>_`` (extents) or ``q<divisor>_`` (quotients of
#: these); dimensions with ``v``.
_PARAMETER = re.compile(r"\b(?:n_\w+|s\d+_\w+|q\d+_\w+)")
_QUOTIENT = re.compile(r"q(\d+)_(\w+)")
_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "=",
    ast.NotEq: "!=",
}


#: What is added to the greater side less the other one to make it at least 0.
_GAPS = {"<": -1, "<=": 0, ">": -1, ">=": 0}


@dataclass(frozen=True, eq=False)
class Quasi:
    """A quasi-affine integer: ``constant + sum(coefficient * atom)``.

    An atom is isl text: a dimension, a parameter, ``floor(..)``, ``.. mod ..``, min or max.

    Args:
        terms: atom -> coefficient, none of them 0.
        constant: the constant part.
    """

    terms: Mapping[str, int] = field(default_factory=dict)
    constant: int = 0

    @property
    def value(self) -> int | None:
        """The value when it is a constant, else None."""
        return None if self.terms else self.constant

    @cached_property
    def text(self) -> str:
        """The expression in isl's notation; equal forms have equal text."""
        parts = [f"{self.terms[atom]}*{atom}" for atom in sorted(self.terms)]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return "(" + " + ".join(parts) + ")"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quasi):
            return NotImplemented
        return self.constant == other.constant and self.terms == other.terms

    def __hash__(self) -> int:
        return hash((self.constant, frozenset(self.terms.items())))

    def plus(self, other: Quasi, factor: int = 1) -> Quasi:
        """``self + factor * other``."""
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            total = terms.get(atom, 0) + factor * coefficient
            if total:
                terms[atom] = total
            else:
                terms.pop(atom, None)
        return Quasi(terms, self.constant + factor * other.constant)

    def times(self, factor: int) -> Quasi:
        """``self * factor``."""
        return Quasi().plus(self, factor)


class Composite(str):
    """An atom made of forms: a division rounded down, a remainder, a minimum or maximum.

    It is its own isl text, so that equal atoms are equal texts.
    """

    word: str
    parts: tuple[Quasi, ...]
    divisor: int

    @classmethod
    def of(cls, text: str, word: str, parts: Iterable[Quasi], divisor: int = 0) -> Composite:
        """The atom with a text and what it was made from."""
        made = cls(text)
        made.word, made.parts, made.divisor = word, tuple(parts), divisor
        return made


def const(value: int) -> Quasi:
    """A constant."""
    return Quasi({}, value)


def atom(text: str) -> Quasi:
    """An atom."""
    return Quasi({text: 1})


@dataclass(frozen=True)
class Scope:
    """What is known of names at one place of a program.

    Args:
        values: names of integers -> their value over dimensions and parameters.
        shapes: names of arrays -> their extents, None for an extent that is not known.
        hidden: names that do not mean Python's own function here.
        names_quotients: whether quotients of sizes are parameters of their own, which isl counts
            with as with any other; else it carries each along with its definition.
    """

    values: Mapping[str, Quasi]
    shapes: Mapping[str, tuple[Quasi | None, ...]]
    hidden: frozenset[str] = frozenset()
    names_quotients: bool = False

    def extent(self, array: str, axis: int) -> Quasi | None:
        """The extent of an array along an axis, counted from the end when negative."""
        shape = self.shapes.get(array)
        if shape is None or not -len(shape) <= axis < len(shape):
            return None
        return shape[axis]


def parameters_in(texts: Iterable[str]) -> set[str]:
    """The isl parameters that occur in texts."""
    found: set[str] = set()
    for text in texts:
        found.update(_PARAMETER.findall(text))
    divided = [quotient[1] for each in found if (quotient := quotient_of(each)) is not None]
    return found | parameters_in(divided) if divided else found


def quotient_of(parameter: str) -> tuple[int, str] | None:
    """What a parameter is a quotient of: the divisor, and what it divides; None for others."""
    found = _QUOTIENT.fullmatch(parameter)
    return None if found is None else (int(found[1]), bytes.fromhex(found[2]).decode())


def _with_parameters(form: Quasi) -> Quasi:
    """A form in which quotients of sizes are parameters."""
    result = const(form.constant)
    for key, coefficient in form.terms.items():
        named: str = key
        if isinstance(key, Composite) and key.word == "//":
            [divided] = key.parts
            if all(_PARAMETER.fullmatch(each) for each in divided.terms):
                name = f"q{key.divisor}_{divided.text.encode().hex()}"
                named = Composite.of(name, key.word, key.parts, key.divisor)
        result = result.plus(atom(named), coefficient)
    return result


def mangled(name: str) -> str:
    """A name as isl can read it; different names stay different."""
    return name if name.isascii() else "0x" + name.encode().hex()


def quasi(expression: ast.expr, scope: Scope) -> Quasi | None:
    """An expression as a quasi-affine integer, or None where it is not known to be one."""
    match expression:
        case ast.Constant(value=value):
            return const(value) if type(value) is int else None
        case ast.Name(id=name):
            return scope.values.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = quasi(operand, scope)
            return None if inner is None else inner.times(-1)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return quasi(operand, scope)
        case ast.BinOp(left=left, op=op, right=right):
            first = quasi(left, scope)
            second = None if first is None else quasi(right, scope)
            made = None if first is None or second is None else _binary(first, op, second)
            if made is None or not scope.names_quotients:
                return made
            return _with_parameters(made)
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=array), attr="shape"), slice=axis):
            number = query.integer(axis)
            return None if number is None else scope.extent(array, number)
        case ast.Call(func=ast.Name(id=word), args=arguments, keywords=[]):
            return None if word in scope.hidden else _call(word, arguments, scope)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return chosen(test, quasi(body, scope), quasi(orelse, scope), scope)
    return None


def chosen(test: ast.expr, one: Quasi | None, other: Quasi | None, scope: Scope) -> Quasi | None:
    """``one if test else other`` where that is a clamp, or both are the same; else None."""
    if one is None or other is None or one == other:
        return one if one == other else None
    compared = clamps.gap_of(test)
    gap = None if compared is None else quasi(compared, scope)
    if gap is None:
        return None
    apart = one.plus(other, -1)
    found = clamps.word(apart.plus(gap, -1).value, apart.plus(gap).value)
    return None if found is None else extreme(found, [one, other])


def _call(word: str, arguments: list[ast.expr], scope: Scope) -> Quasi | None:
    if word == "len" and len(arguments) == 1 and isinstance(arguments[0], ast.Name):
        return scope.extent(arguments[0].id, 0)
    if word not in ("min", "max", "abs", "int") or not arguments:
        return None
    parts = [quasi(each, scope) for each in arguments]
    known = [each for each in parts if each is not None]
    if len(known) != len(parts):
        return None
    if word in ("abs", "int"):
        if len(known) != 1:
            return None
        return known[0] if word == "int" else extreme("max", [known[0], known[0].times(-1)])
    # one argument is an iterable in Python, which is no integer
    return extreme(word, known) if len(known) > 1 else None


def extreme(word: str, parts: list[Quasi]) -> Quasi:
    """The ``"min"`` or the ``"max"`` of several integers."""
    values = [each.value for each in parts]
    if all(value is not None for value in values):
        known = [value for value in values if value is not None]
        return const(min(known) if word == "min" else max(known))
    distinct = {each.text: each for each in parts}
    if len(distinct) == 1:
        return parts[0]
    ordered = [distinct[text] for text in sorted(distinct)]
    text = f"{word}({', '.join(each.text for each in ordered)})"
    return atom(Composite.of(text, word, ordered))


def _binary(left: Quasi, op: ast.operator, right: Quasi) -> Quasi | None:
    match op:
        case ast.Add():
            return left.plus(right)
        case ast.Sub():
            return left.plus(right, -1)
        case ast.Mult():
            if right.value is not None:
                return left.times(right.value)
            return right.times(left.value) if left.value is not None else None
        case ast.FloorDiv():
            return None if not right.value else floor_div(left, right.value)
        case ast.Mod():
            return None if not right.value else modulo(left, right.value)
        case ast.LShift() if right.value is not None and 0 <= right.value < 63:
            return left.times(1 << right.value)
        case ast.RShift() if right.value is not None and 0 <= right.value < 63:
            return floor_div(left, 1 << right.value)
    return None


def floor_div(form: Quasi, divisor: int) -> Quasi:
    """``form // divisor``, rounded down as Python does; the divisor is not 0."""
    if divisor < 0:
        return floor_div(form.times(-1), -divisor)
    whole = {k: c // divisor for k, c in form.terms.items() if c % divisor == 0}
    rest = {k: c for k, c in form.terms.items() if c % divisor}
    quotient, remainder = divmod(form.constant, divisor)
    result = Quasi(whole, quotient)
    if rest:
        inner = Quasi(rest, remainder)
        text = f"floor({inner.text}/{divisor})"
        result = result.plus(atom(Composite.of(text, "//", [inner], divisor)))
    return result


def modulo(form: Quasi, divisor: int) -> Quasi:
    """``form % divisor``, with the divisor's sign as in Python; the divisor is not 0."""
    if divisor < 0:
        return modulo(form.times(-1), -divisor).times(-1)
    rest = {k: c % divisor for k, c in form.terms.items() if c % divisor}
    reduced = Quasi(rest, form.constant % divisor)
    if not rest:
        return reduced
    return atom(Composite.of(f"({reduced.text} mod {divisor})", "%", [reduced], divisor))


def substituted(form: Quasi, values: Mapping[str, Quasi]) -> Quasi:
    """A form with dimensions replaced by forms, inside atoms too."""
    result = Quasi({}, form.constant)
    for key, coefficient in form.terms.items():
        if key in values:
            result = result.plus(values[key], coefficient)
        elif isinstance(key, Composite):
            parts = [substituted(each, values) for each in key.parts]
            result = result.plus(_remade(key, parts), coefficient)
        else:
            result = result.plus(atom(key), coefficient)
    return result


def _remade(key: Composite, parts: list[Quasi]) -> Quasi:
    if key.word == "//":
        return floor_div(parts[0], key.divisor)
    return modulo(parts[0], key.divisor) if key.word == "%" else extreme(key.word, parts)


def at_least_zero(form: Quasi) -> str:
    """The formula ``form >= 0``, without the divisions, minima and maxima that it can do without.

    isl takes a set apart at every minimum, and carries an integer of its own along for every
    division. ``floor(e/16) >= a`` is ``e >= 16*a``, and ``min(a, b) >= c`` is two comparisons.
    """
    for key, coefficient in form.terms.items():
        if not isinstance(key, Composite):
            continue
        rest = form.plus(atom(key), -coefficient)
        if key.word == "//" and coefficient == 1:
            return at_least_zero(key.parts[0].plus(rest, key.divisor))
        if key.word == "//" and coefficient == -1:
            last = rest.times(key.divisor).plus(const(key.divisor - 1))
            return at_least_zero(last.plus(key.parts[0], -1))
        if key.word == ("min" if coefficient > 0 else "max"):
            parts = (at_least_zero(rest.plus(each, coefficient)) for each in key.parts)
            return " and ".join(dict.fromkeys(parts))
    return f"{form.text} >= 0"


def formula(condition: ast.expr, scope: Scope) -> str | None:
    """A condition as an isl formula, or None where it is not one over known integers."""
    match condition:
        case ast.Constant(value=True):
            return "true"
        case ast.Constant(value=False):
            return "false"
        case ast.BoolOp(op=op, values=values):
            parts = [formula(each, scope) for each in values]
            if any(each is None for each in parts):
                return None
            word = " and " if isinstance(op, ast.And) else " or "
            return "(" + word.join(str(each) for each in parts) + ")"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = formula(operand, scope)
            return None if inner is None else f"(not {inner})"
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return _compare([left, *comparators], ops, scope)
    return None


def _compare(operands: list[ast.expr], ops: list[ast.cmpop], scope: Scope) -> str | None:
    sides = [quasi(each, scope) for each in operands]
    parts = []
    for first, op, second in zip(sides, ops, sides[1:], strict=False):
        symbol = _COMPARISONS.get(type(op))
        if first is None or second is None or symbol is None:
            return None
        if symbol in _GAPS:
            gap = second.plus(first, -1) if symbol[0] == "<" else first.plus(second, -1)
            parts.append(at_least_zero(gap.plus(const(_GAPS[symbol]))))
            continue
        parts.append(f"{first.text} {symbol} {second.text}")
    return "(" + " and ".join(parts) + ")"
