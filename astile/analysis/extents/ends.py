"""The least and the greatest value of an index to which data contribute, over known integers."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from astile.analysis.extents import guards
from astile.analysis.extents.guards import Fact
from astile.analysis.forms import affine_sets
from astile.analysis.forms.affine_sets import Quasi, Scope
from astile.ir import query
from astile.ir.program import Program

#: Least and greatest value.
Ends = tuple[Quasi, Quasi]
#: Words of isl.
_FUNCTIONS = frozenset(("floor", "mod", "min", "max"))


class Values(Protocol):
    """What is known of the integers that data give, for the types of a call."""

    def of(self, value: ast.expr, /) -> tuple[int, int] | None:
        """The least and the greatest value of an integer; None where it may be none."""

    def is_wide(self, value: ast.expr, /) -> bool:
        """Whether arithmetic gives what it gives in Python, and does not wrap around earlier."""

    def sources(self, load: ast.Name, /) -> Sequence[ast.expr] | None:
        """What a name may have been set to where it is read; None where that is not known."""


class Reckoner:
    """Finds the ends of integers.

    Args:
        program: the program.
        values: what is known of its values.
    """

    def __init__(self, program: Program, values: Values) -> None:
        self._values = values
        stored = Counter(
            node.id
            for node in query.preorder(program.function)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        )
        parameters = query.parameters(program.function)
        stored.update(parameters)
        self._parameters = frozenset(parameters)
        self._changing = frozenset(name for name, count in stored.items() if count > 1)
        self._arguments = frozenset(map(affine_sets.mangled, parameters)) - self._changing
        self._names: dict[ast.Name, Ends | None] = {}

    def ends(self, value: ast.expr, scope: Scope, facts: Sequence[Fact] = ()) -> Ends | None:
        """The ends of an integer, or None where it is not known to be one.

        Args:
            value: an expression.
            scope: what is known of names where it stands.
            facts: comparisons that hold there.
        """
        found = self._plain(value, scope, facts)
        for each in guards.of(facts, value) if found is not None else ():
            limit = self._limit(each.limit, scope)
            if limit is not None and found is not None:
                found = _limited(found, each.op, limit)
        return found

    def _limit(self, value: ast.expr, scope: Scope) -> Quasi | None:
        """What a value is compared with.

        Only the types of a call may say of an argument that it is an integer.
        """
        own = {
            node.id: affine_sets.atom(f"n_{affine_sets.mangled(node.id)}")
            for node in ast.walk(value)
            if isinstance(node, ast.Name)
            and node.id in self._parameters - self._changing
            and self._values.is_wide(node)
            and self._values.of(node) is not None
        }
        return affine_sets.quasi(value, replace(scope, values={**own, **scope.values}))

    def _plain(self, value: ast.expr, scope: Scope, facts: Sequence[Fact]) -> Ends | None:
        """The ends of an integer by what it is made of."""
        exact = affine_sets.quasi(value, scope)
        if exact is not None:
            return exact, exact
        found = self._values.of(value)
        if found is None:
            return None
        made = self._computed(value, scope, facts)
        return (affine_sets.const(found[0]), affine_sets.const(found[1])) if made is None else made

    def _computed(self, value: ast.expr, scope: Scope, facts: Sequence[Fact]) -> Ends | None:
        """The ends by those of the operands; None where the type of the value tells more."""
        match value:
            case ast.Name():
                if value not in self._names:
                    self._names[value] = None  # while it is looked at: made from itself
                    self._names[value] = self._of_sources(value, scope)
                return self._names[value]
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                divisor = affine_sets.quasi(right, scope)
                if divisor is None or divisor.value is not None or self._values.of(left) is None:
                    return None
                return _remainder(divisor)
            case ast.BinOp(left=left, op=op, right=right) if self._values.is_wide(value):
                first = self.ends(left, scope, facts)
                second = None if first is None else self.ends(right, scope, facts)
                return None if first is None or second is None else _binary(first, op, second)
            case ast.Call(func=ast.Name(id="min" | "max" as word), args=arguments, keywords=[]):
                if word in scope.hidden or len(arguments) < 2:
                    return None
                return _joined(word, word, [self.ends(each, scope, facts) for each in arguments])
        return None

    def _of_sources(self, load: ast.Name, scope: Scope) -> Ends | None:
        """The ends of a name, where sizes alone decide those of all that it may have been set to.

        Where it was set, loop variables had other values than where it is read.
        """
        sources = self._values.sources(load)
        if not sources:
            return None
        fixed = self._fixed(scope)
        return _joined("min", "max", [self.ends(each, fixed) for each in sources])

    def _fixed(self, scope: Scope) -> Scope:
        """What holds all through a call of what is known at one place."""
        values = {
            name: form
            for name, form in scope.values.items()
            if name not in self._changing and self._is_fixed(form)
        }
        shapes = {
            array: tuple(e if e is not None and self._is_fixed(e) else None for e in extents)
            for array, extents in scope.shapes.items()
            if array not in self._changing
        }
        return replace(scope, values=values, shapes=shapes)

    def _is_fixed(self, form: Quasi) -> bool:
        """Whether an integer is made of arguments that are the same all through a call."""
        parameters = affine_sets.parameters_in([form.text])
        named = set(re.findall(r"[A-Za-z_]\w*", form.text)) - parameters
        return named <= _FUNCTIONS and all(
            affine_sets.quotient_of(each) is not None or each.partition("_")[2] in self._arguments
            for each in parameters
        )


def _joined(low: str, high: str, parts: Sequence[Ends | None]) -> Ends | None:
    """The ends of what is one of several, each end the least or the greatest of theirs."""
    known = [each for each in parts if each is not None]
    if len(known) < len(parts):
        return None
    lows, highs = ([each[side] for each in known] for side in (0, 1))
    return affine_sets.extreme(low, lows), affine_sets.extreme(high, highs)


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


def _limited(both: Ends, op: type[ast.cmpop], limit: Quasi) -> Ends:
    """The ends of what is known to be less or more than a limit too."""
    low, high = both
    one = affine_sets.const(1)
    if op in (ast.Lt, ast.LtE):
        most = limit.plus(one, -1) if op is ast.Lt else limit
        return low, affine_sets.extreme("min", [high, most])
    least = limit.plus(one) if op is ast.Gt else limit
    return affine_sets.extreme("max", [low, least]), high


def _number(both: Ends) -> int | None:
    return both[0].value if both[0] == both[1] else None
