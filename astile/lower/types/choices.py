"""All that a value may be in the plain program, where the data choose between several types.

``x if c else 0.1`` is of float32 here and a number of Python there, and so is what is computed from
it. A set of `Possible` stands for that.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from astile.ir import query
from astile.lower.types import call_kinds, possible, promotion, reaching
from astile.lower.types.possible import Possible, Several
from astile.lower.types.promotion import PYTHON, Kind
from astile.lower.types.stores import Definition

if TYPE_CHECKING:
    from astile.lower.types.kinds import Kinds


class Choices:
    """What names and expressions of a program may be.

    Args:
        kinds: of the program's names, where a number of Python takes the type that is stored later.
    """

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        parameters = query.parameters(kinds.program.function)
        given = [Definition(name, None) for name in parameters]
        function = kinds.program.function
        if kinds.is_written:
            runs = reaching.over_sizes(function)
        else:
            runs = reaching.scheduled(kinds.program)
        self._seen = reaching.find(function, kinds.definitions, given, runs)
        self._may_see = reaching.find(function, kinds.definitions, given, reaching.never)
        self._all: dict[str, list[Definition]] = {}
        for each in (*given, *itertools.chain.from_iterable(kinds.definitions.values())):
            self._all.setdefault(each.name, []).append(each)
        self._found: dict[Definition, Several] = {each: _of_argument(kinds, each) for each in given}
        self._open = [e for many in self._all.values() for e in many if e not in self._found]
        self._found.update(dict.fromkeys(self._open, frozenset()))
        changed = True
        while changed:  # ends: there are few kinds, and few numbers of each
            changed = False
            for each in self._open:
                found = possible.union([self._found[each], self._stored(each)])
                changed = changed or found != self._found[each]
                self._found[each] = found

    def _stored(self, definition: Definition) -> Several:
        """What one place gives to a name."""
        value = definition.value
        if isinstance(value, ast.AugAssign):
            return possible.binary(self._of_target(value), value.op, self.all_of(value.value))
        if isinstance(value, ast.expr):
            return self.all_of(value)
        return possible.one(self._kinds.of_store(definition.name, value))

    def _of_target(self, update: ast.AugAssign) -> Several:
        return self._of_name(update.target) if isinstance(update.target, ast.Name) else None

    def _of_name(self, load: ast.Name) -> Several:
        """What a name may be where it is loaded."""
        return possible.union(self._found[e] for e in self._seen.get(load) or self._all[load.id])

    def may_see(self, load: ast.Name) -> frozenset[str] | None:
        """The kinds of a name where it is loaded, loops that may have no iteration included."""
        places = self._may_see.get(load) or self._all.get(load.id, [])
        return possible.kinds(possible.union(self._found[each] for each in places))

    def same_load(self, copy: ast.expr, load: ast.expr) -> None:
        """Say that an expression of the text stands for a load of the program."""
        if isinstance(copy, ast.Name) and isinstance(load, ast.Name):
            for seen in (self._seen, self._may_see):
                if load in seen:
                    seen[copy] = seen[load]

    def is_only(self, name: str, kind: Kind) -> bool:
        """Whether all that a name is set to is of one kind, or numbers that it holds exactly."""
        return possible.are_of(
            possible.union(self._found[e] for e in self._all.get(name, [])), kind
        )

    # --- expressions ----------------------------------------------------------------------------

    def of(self, value: ast.expr) -> frozenset[str] | None:
        """The kinds that an expression may have."""
        return possible.kinds(self.all_of(value))

    def all_of(self, value: ast.expr) -> Several:
        """All that an expression may be."""
        match value:
            case ast.Name(id=name) if name in self._all and name not in self._kinds.arrays:
                return self._of_name(value)
            case ast.BinOp(left=left, op=operator, right=right):
                return possible.binary(self.all_of(left), operator, self.all_of(right))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert() as sign, operand=operand):
                return _signed(self.all_of(operand), sign)
            case ast.IfExp(body=body, orelse=orelse):
                return self.one_of([body, orelse])
            case ast.BoolOp(values=values):
                return self.one_of(values)
            case ast.Compare(left=left, comparators=others):
                return self._of_comparison([left, *others])
            case ast.Call():
                return self._of_call(value)
        number = self._number(value)
        if number is not None:
            return frozenset([possible.number(number)])
        if isinstance(value, ast.Name) and value.id not in self._kinds.arrays:
            return possible.one(self._kinds.names.get(value.id))
        return possible.one(self._kinds.of(value))

    def one_of(self, values: Iterable[ast.expr]) -> Several:
        """All that a value may be that is one of several."""
        return possible.union(map(self.all_of, values))

    def results(
        self, left: ast.expr, operator: ast.operator, right: ast.expr, rounded: Kind = None
    ) -> frozenset[str | None] | None:
        """The types in which two operands may be computed, see `possible.results`."""
        return possible.results(self.all_of(left), operator, self.all_of(right), rounded)

    def _of_comparison(self, sides: Sequence[ast.expr]) -> Several:
        found = [self.of(each) for each in sides]
        known = [each for each in found if each is not None]
        if len(known) < len(found):
            return None
        pairs = {p for k in range(len(known) - 1) for p in itertools.product(*known[k : k + 2])}
        words = {"bool" if set(each) <= set(PYTHON) else "bool_" for each in pairs}
        return frozenset(map(Possible, words))

    def _of_call(self, call: ast.Call) -> Several:
        kinds = self._kinds
        inner = kinds.inside(call)
        if inner is not None:
            return inner.choices.one_of(inner.returned_values()) or possible.one(inner.returned())
        path = call_kinds.path_of(kinds.program, call.func)
        word = "" if path else query.dotted(call.func)
        if word in ("min", "max") and len(call.args) > 1 and not call.keywords:
            return self.one_of(call.args)
        if word == "abs" and len(call.args) == 1:
            found = self.of(call.args[0])
            parts = (call_kinds.real_part(_signed_kind(each)) for each in found or ())
            return None if found is None else possible.union(map(possible.one, parts))
        function = ufunc(path)
        if function is not None and len(call.args) == function.nin and not call.keywords:
            combinations = self.of_operands(function, call.args)
            return (
                None if combinations is None else frozenset(Possible(e[-1]) for e in combinations)
            )
        number = self._number(call)
        if number is not None:
            return frozenset([possible.number(number)])
        return possible.one(call_kinds.of_call(kinds, call))

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

    def _number(self, value: ast.expr) -> complex | None:
        """The number of the text that an expression is."""
        match value:
            case ast.Constant(value=bool() | int() | float() | complex() as number):
                return number
            case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as text)]):
                return float("nan") if "nan" in text.lower() else _infinity(text)
            case ast.Name() | ast.Attribute():
                path = call_kinds.path_of(self._kinds.program, value)
                if path in ("math.inf", "numpy.inf", "math.nan", "numpy.nan"):
                    return float(path.rpartition(".")[2])
                frozen = self._kinds.program.constants.get(query.dotted(value) or "")
                return frozen if type(frozen) in (bool, int, float, complex) else None  # type: ignore[return-value]
        return None


def ufunc(path: str) -> np.ufunc | None:
    """The function of NumPy with one result that computes element by element."""
    home, _, name = path.rpartition(".")
    function = getattr(np, name, None) if home == "numpy" else None
    return function if isinstance(function, np.ufunc) and function.nout == 1 else None


def _infinity(text: str) -> complex | None:
    return float(text) if text.strip("+-").lower() in ("inf", "infinity") else None


def _signed(found: Several, sign: ast.unaryop) -> Several:
    """What values with a sign or complement may be, where they have one."""
    if found is None:
        return None
    made = []
    for each in found:
        number = each.number
        if isinstance(sign, ast.Invert):
            if promotion.family(each.kind) not in "biu":
                continue
            number = None if number is None else ~int(number.real)
        elif each.kind == "bool_":
            continue
        elif number is not None:
            number = -number if isinstance(sign, ast.USub) else +number
        made.append(frozenset([Possible(_signed_kind(each.kind), number)]))
    return possible.union(made)


def _signed_kind(kind: str) -> str:
    return "int" if kind == "bool" else kind


def _of_argument(kinds: Kinds, parameter: Definition) -> Several:
    given = kinds.types.get(parameter.name)
    if given is None:
        return None
    kind = given.removesuffix("()")
    return possible.one("bool_" if kind == "bool" and given != kind else kind)
