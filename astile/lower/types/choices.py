"""All types that a value may have in the plain program, where the data choose between several.

``x if c else 0.1`` is of float32 here and a number of Python there, and so is what is computed from
it. A set of kinds stands for that. A literal that the type beside it holds exactly counts as one of
that type, and so does an integer beside floating-point numbers: what starts at 0 is no choice.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from astile.ir import query
from astile.lower.types import call_kinds, promotion, reaching
from astile.lower.types.promotion import PYTHON, Kind, family
from astile.lower.types.stores import Definition

if TYPE_CHECKING:
    from astile.lower.types.kinds import Kinds

#: Kinds that a value may have; None where one of them is not known.
Several = frozenset[str] | None


class Choices:
    """The kinds that names and expressions of a program may have.

    Args:
        kinds: of the program's names, where a number of Python takes the type that is stored later.
    """

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        parameters = query.parameters(kinds.program.function)
        given = [Definition(name, None) for name in parameters]
        self._seen = reaching.find(kinds.program.function, kinds.definitions, given)
        self._all: dict[str, list[Definition]] = {}
        for each in (*given, *itertools.chain.from_iterable(kinds.definitions.values())):
            self._all.setdefault(each.name, []).append(each)
        self._found: dict[Definition, Several] = {each: _of_argument(kinds, each) for each in given}
        self._open = [e for many in self._all.values() for e in many if e not in self._found]
        self._found.update(dict.fromkeys(self._open, frozenset()))
        self._is_weak = False
        self._is_closed = False  # what starts as a literal may still get another type
        for self._is_closed in (False, True):
            self._close()
        self._weakly: dict[Definition, Several] = dict(self._found)
        with self._weak():
            self._close()

    def _close(self) -> None:
        changed = True
        while changed:  # ends: sets of few kinds only grow
            changed = False
            for each in self._open:
                found = _union([self._found[each], self._stored(each)])
                changed = changed or found != self._found[each]
                self._found[each] = found

    def _stored(self, definition: Definition) -> Several:
        """The kinds that one place gives to a name."""
        kinds, value, name = self._kinds, definition.value, definition.name
        held = kinds.arrays[name] if name in kinds.arrays else kinds.names.get(name)
        typed = [] if held is None or held == "?" or held in PYTHON else [held]
        if isinstance(value, ast.AugAssign):
            found = self._binary(self._of_target(value), value.op, self.of(value.value))
        elif isinstance(value, ast.expr):
            numbers = self._numbers(value)
            if typed and numbers is not None and _are_held(numbers, typed[0]):
                return frozenset(typed)
            found = self.of(value)
        else:
            found = _one(kinds.of_store(name, value))
        return found if self._is_weak else _without_integers(found, typed)

    def _of_target(self, update: ast.AugAssign) -> Several:
        return self._of_name(update.target) if isinstance(update.target, ast.Name) else None

    def _of_name(self, load: ast.Name) -> Several:
        """The kinds that a name may have where it is loaded."""
        places = self._seen.get(load) or self._all[load.id]
        if self._kinds.names.get(load.id) is not None:
            return _union(self._found[each] for each in places)
        values = [each.value for each in places if isinstance(each.value, ast.expr)]
        known = [each for each in values if self._numbers(each) is not None]
        others = [self._found[each] for each in places if each.value not in known]
        return self._with_literals(others, known)

    def same_load(self, copy: ast.expr, load: ast.expr) -> None:
        """Say that an expression of the text stands for a load of the program."""
        if isinstance(copy, ast.Name) and isinstance(load, ast.Name) and load in self._seen:
            self._seen[copy] = self._seen[load]

    def is_only(self, name: str, kind: Kind) -> bool:
        """Whether a name has one kind, whatever the data are."""
        places = self._all.get(name, [])
        return not places or _union(self._found[e] for e in places) == frozenset([str(kind)])

    # --- expressions ----------------------------------------------------------------------------

    def of(self, value: ast.expr) -> Several:
        """The kinds that an expression may have."""
        match value:
            case ast.Name(id=name) if name in self._all and name not in self._kinds.arrays:
                return self._of_name(value)
            case ast.BinOp(left=left, op=operator, right=right):
                return self._binary(self.of(left), operator, self.of(right))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                found = self.of(operand)
                return None if found is None else frozenset(map(_negated, found - {"bool_"}))
            case ast.IfExp(body=body, orelse=orelse):
                return self.one_of([body, orelse])
            case ast.BoolOp(values=values):
                return self.one_of(values)
            case ast.Call():
                return self._of_call(value)
        return _one(self._kinds.of(value))

    def one_of(self, values: Sequence[ast.expr]) -> Several:
        """The kinds of a value that is one of several."""
        known = [each for each in values if self._numbers(each) is not None]
        if self._is_weak:
            return _union(map(self.of, values))
        return self._with_literals([self.of(each) for each in values if each not in known], known)

    def weakly_of(self, value: ast.expr) -> Several:
        """The same as `of`, where a number of the text in a choice stays one of Python.

        It takes the type of what is beside it, which may be narrower than that of the others.
        """
        with self._weak():
            return self.of(value)

    @contextlib.contextmanager
    def _weak(self) -> Iterator[None]:
        strict, self._found, self._is_weak = self._found, self._weakly, True
        try:
            yield
        finally:
            self._found, self._is_weak = strict, False

    def _with_literals(self, others: Sequence[Several], literals: Sequence[ast.expr]) -> Several:
        """The kinds of a value that is one of several, some of them numbers of the text."""
        found = _union(others)
        if found is None or (others and not found and not self._is_closed):
            return found
        typed = found - set(PYTHON)
        for each in literals:
            if not any(self.is_literal(each, kind) for kind in typed):
                found = _union([found, self.of(each)])
        return _without_integers(found, typed)

    def _of_call(self, call: ast.Call) -> Several:
        kinds = self._kinds
        inner = kinds.inside(call)
        if inner is not None:
            return inner.choices.one_of(inner.returned_values()) or _one(inner.returned())
        path = call_kinds.path_of(kinds.program, call.func)
        word = "" if path else query.dotted(call.func)
        if word in ("min", "max") and len(call.args) > 1 and not call.keywords:
            return self.one_of(call.args)
        if word == "abs" and len(call.args) == 1:
            found = self.of(call.args[0])
            parts = (call_kinds.real_part(_negated(each)) for each in found or ())
            return None if found is None else _union(map(_one, parts))
        function = ufunc(path)
        if function is not None and len(call.args) == function.nin and not call.keywords:
            combinations = self.of_operands(function, call.args)
            return None if combinations is None else frozenset(e[-1] for e in combinations)
        return _one(kinds.of(call))

    def of_operands(
        self, function: np.ufunc, arguments: Sequence[ast.expr]
    ) -> set[tuple[str, ...]] | None:
        """The kinds of operands and result that a function of NumPy may compute in."""
        given = [self.of(each) for each in arguments]
        known = [each for each in given if each is not None]
        if len(known) < len(given):
            return None
        made = [promotion.of_ufunc(function, *each) for each in itertools.product(*known)]
        return {each for each in made if each is not None}

    def _binary(self, left: Several, operator: ast.operator, right: Several) -> Several:
        if left is None or right is None:
            return None
        pairs = itertools.product(left, right)
        found = (promotion.binary(first, type(operator), second) for first, second in pairs)
        return frozenset(each for each in found if each is not None)

    # --- literals -------------------------------------------------------------------------------

    def is_literal(self, value: ast.expr, kind: str) -> bool:
        """Whether an expression is a number of the text that a type holds exactly."""
        numbers = self._numbers(value)
        return numbers is not None and _are_held(numbers, kind)

    def _numbers(self, value: ast.expr) -> list[complex] | None:
        """The numbers of the text that an expression may be, None where it may be others."""
        if isinstance(value, ast.Name):
            if value.id in self._kinds.stores:
                return self._numbers_of_name(value.id)
            frozen = self._kinds.program.constants.get(value.id)
            return [frozen] if type(frozen) in (bool, int, float, complex) else None  # type: ignore[list-item]
        number = self._number(value)
        return None if number is None else [number]

    def _numbers_of_name(self, name: str) -> list[complex] | None:
        if name in query.parameters(self._kinds.program.function):
            return None
        found = []
        for each in self._kinds.stores[name]:
            number = self._number(each) if isinstance(each, ast.expr) else None
            if number is None:
                return None
            found.append(number)
        return found

    def _number(self, value: ast.expr) -> complex | None:
        match value:
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = self._number(operand)
                return None if number is None else -number
            case ast.Constant(value=bool() | int() | float() | complex() as number):
                return number
            case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as text)]):
                return float("nan") if "nan" in text.lower() else _infinity(text)
            case ast.Name() | ast.Attribute():
                path = call_kinds.path_of(self._kinds.program, value)
                if path in ("math.inf", "numpy.inf", "math.nan", "numpy.nan"):
                    return float(path.rpartition(".")[2])
        return None


def ufunc(path: str) -> np.ufunc | None:
    """The function of NumPy with one result that computes element by element."""
    home, _, name = path.rpartition(".")
    function = getattr(np, name, None) if home == "numpy" else None
    return function if isinstance(function, np.ufunc) and function.nout == 1 else None


def _infinity(text: str) -> complex | None:
    return float(text) if text.strip("+-").lower() in ("inf", "infinity") else None


def _are_held(numbers: Iterable[complex], kind: Kind) -> bool:
    return all(_is_held(each, str(kind)) for each in numbers)


def _is_held(number: complex, kind: str) -> bool:
    """Whether a type holds a number of the text exactly, as does float32 for wider ones."""
    own, group = type(number).__name__, family(kind)
    if own == "bool" or group == "b":
        return own == "bool"
    if group in "iu":
        return own == "int" and np.iinfo(kind).min <= number.real <= np.iinfo(kind).max
    if own == "complex" and group == "f":
        return False
    narrow = np.float16 if kind == "float16" else np.float32
    with np.errstate(over="ignore"):
        parts = complex(number)
        return all(part != part or float(narrow(part)) == part for part in (parts.real, parts.imag))


def _negated(kind: str) -> str:
    return "int" if kind == "bool" else kind


def _without_integers(found: Several, typed: Iterable[str]) -> Several:
    """Kinds without integers of Python where there are floating-point numbers of NumPy."""
    if found is None or not any(family(each) in "fc" for each in typed):
        return found
    return found - {"bool", "int"}


def _of_argument(kinds: Kinds, parameter: Definition) -> Several:
    given = kinds.types.get(parameter.name)
    if given is None:
        return None
    kind = given.removesuffix("()")
    return frozenset(["bool_" if kind == "bool" and given != kind else kind])


def _one(kind: Kind) -> Several:
    if kind is None:
        return None
    return frozenset() if kind == "?" else frozenset([kind])


def _union(found: Iterable[Several]) -> Several:
    whole: frozenset[str] = frozenset()
    for each in found:
        if each is None:
            return None
        whole |= each
    return whole
