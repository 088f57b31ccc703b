"""Lengths and indices as sums: what is known of them without running anything."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from astile.frontend import told
from astile.frontend.sums import Linear, constant, extent_symbol, names_in, symbol
from astile.ir import nodes, query


@dataclass(frozen=True)
class Range:
    """The values of a loop variable.

    Args:
        variable: its name.
        least: its least value, None where it is no sum.
        greatest: its greatest value.
    """

    variable: str
    least: Linear | None
    greatest: Linear | None


@dataclass(frozen=True)
class Lengths:
    """What is known at one place of a program.

    Args:
        sizes: names that hold one integer all the time -> that integer over symbols.
        ranges: the counted loops around the place, outermost first.
        spelled: extents -> the name that the user gave them.
        tested: sums that are at least 0, since a condition around the place says so.
        extremes: names -> what the last assignment in front of the place gave them.
        integers: names of arguments and constants that are integers of Python.
        reads_extremes: whether ``min`` and ``max`` are Python's.
    """

    sizes: Mapping[str, Linear] = field(default_factory=dict)
    ranges: tuple[Range, ...] = ()
    spelled: Mapping[str, ast.expr] = field(default_factory=dict)
    tested: tuple[Linear, ...] = ()
    extremes: Mapping[str, told.Extreme] = field(default_factory=dict)
    integers: frozenset[str] = frozenset()
    reads_extremes: bool = False

    def linear(self, expression: ast.expr) -> Linear | None:
        """An integer expression as a sum, or None where it is none."""
        match expression:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                return constant(value)
            case ast.Name(id=name):
                return self.sizes.get(name, symbol(name))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.linear(operand)
                return None if inner is None else constant(0).minus(inner)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                first, second = self.linear(left), self.linear(right)
                if first is None or second is None:
                    return None
                return first.plus(second, 1 if isinstance(expression.op, ast.Add) else -1)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self._product(left, right)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=array)], keywords=[]):
                return self._extent(array, 0)
        if isinstance(expression, ast.Subscript):
            return self._shape(expression)
        return None

    def _product(self, left: ast.expr, right: ast.expr) -> Linear | None:
        first, second = self.linear(left), self.linear(right)
        if first is None or second is None:
            return None
        if first.value is None:
            first, second = second, first
        return None if first.value is None else constant(0).plus(second, first.value)

    def _shape(self, access: ast.Subscript) -> Linear | None:
        axis = query.integer(access.slice)
        match access.value:
            case ast.Attribute(value=ast.Name(id=array), attr="shape") if axis is not None:
                return self._extent(array, axis) if axis >= 0 else None
        return None

    def _extent(self, array: str, axis: int) -> Linear:
        text = extent_symbol(array, axis)
        return self.sizes.get(text, symbol(text))

    # --- facts ----------------------------------------------------------------------------------

    def least(self, form: Linear) -> Linear | None:
        """A sum without loop variables that is never above `form`; None where it is not known."""
        for bounds in reversed(self.ranges):
            coefficient = form.terms.get(bounds.variable, 0)
            if not coefficient:
                continue
            end = bounds.least if coefficient > 0 else bounds.greatest
            if end is None:
                return None
            own = Linear({bounds.variable: coefficient})
            form = form.minus(own).plus(end, coefficient)
        return form

    def is_never_negative(self, form: Linear) -> bool:
        """Whether a sum is at least 0 wherever this place is reached."""
        return self._is_at_least_zero(form) or any(
            self._is_at_least_zero(form.minus(each)) for each in self.tested
        )

    def alternatives(self, form: Linear) -> tuple[list[Linear], bool] | None:
        """A sum of a least or greatest number as sums of what that is one of.

        Args:
            form: a sum.

        Returns:
            The sums, and whether all have to be at least 0 for `form` to be, or one of them; None
            where it has no such number.
        """
        for text, coefficient in form.terms.items():
            found = self.extremes.get(text)
            if found is None:
                continue
            is_every = found.word != ("max" if coefficient > 0 else "min")
            if is_every and not found.is_all:
                continue
            rest = form.minus(Linear({text: coefficient}))
            return [rest.plus(each, coefficient) for each in found.sums], is_every
        return None

    def _is_at_least_zero(self, form: Linear) -> bool:
        parts = self.alternatives(form)
        if parts is not None:
            return (all if parts[1] else any)(map(self._is_at_least_zero, parts[0]))
        least = self.least(form)
        if least is None or least.constant < 0:
            return False
        return all(text.endswith("]") and number > 0 for text, number in least.terms.items())

    def inside(self, loop: ast.For | ast.While) -> Lengths:
        """What is known in the body of a loop."""
        hidden = query.names_written(loop)
        return self._without(hidden)._around(loop, hidden)

    def _without(self, hidden: set[str]) -> Lengths:
        """What stays known where some names may change."""
        ranges = tuple(each for each in self.ranges if each.variable not in hidden)
        tested = tuple(each for each in self.tested if not hidden & names_in([each]))
        extremes = {
            name: each
            for name, each in self.extremes.items()
            if name not in hidden and not hidden & names_in(each.sums)
        }
        return replace(self, ranges=ranges, tested=tested, extremes=extremes)

    def within(self, statement: ast.stmt, body: Sequence[ast.stmt]) -> Lengths:
        """What is known at the start of one of the blocks of a statement.

        Args:
            statement: a loop, a condition or another statement.
            body: the block.
        """
        if isinstance(statement, (ast.For, ast.While)):
            return self.inside(statement)
        if isinstance(statement, ast.If) and body is statement.body:
            return self.under(statement.test, body)
        return self

    def next(self, statement: ast.stmt) -> Lengths:
        """What is known after a statement, where the rest of its block stands."""
        known = self._without(query.names_written(statement))
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in self.sizes:
                found = told.extreme(value, self.linear, calls=self.reads_extremes)
                kept = [each for each in found.sums if self._is_sure(each, {name})]
                if kept:
                    is_all = found.is_all and len(kept) == len(found.sums)
                    made = told.Extreme(found.word, tuple(kept), is_all)
                    return replace(known, extremes={**known.extremes, name: made})
        return known

    def under(self, test: ast.expr, body: Sequence[ast.stmt]) -> Lengths:
        """What is known in the body of a condition: comparisons of integers hold there.

        Args:
            test: the condition.
            body: what runs under it.
        """
        hidden = {name for each in body for name in query.names_written(each)}
        found = [*self.tested]
        for each in told.compared(test, self.linear):
            if not hidden & names_in([each]) and all(map(self._is_integer, each.terms)):
                found.append(each)
        return replace(self, tested=tuple(found))

    def _is_integer(self, text: str) -> bool:
        return text.endswith("]") or any(each.variable == text for each in self.ranges)

    def _is_sure(self, form: Linear, hidden: set[str]) -> bool:
        """Whether a sum has no name that changes, and does not wrap around, as cells may."""
        return not hidden & names_in([form]) and all(
            self._is_integer(each) or each in self.extremes or each in self.integers
            for each in form.terms
        )

    def _around(self, loop: ast.For | ast.While, hidden: set[str]) -> Lengths:
        header = query.header(loop) if isinstance(loop, ast.For) else None
        inner = {name for each in loop.body for name in query.names_written(each)}
        if header is None or header.variable in inner:
            return self
        start, stop = self.linear(header.start), self.linear(header.stop)
        step = query.integer(header.step)
        if step is None or step == 0:
            return self
        if step > 0:
            least, greatest = start, None if stop is None else _last(start, stop, step)
        else:
            least, greatest = None if stop is None else stop.plus(constant(1)), start
        changed = hidden - {header.variable}
        ends = [
            None if each is None or changed & each.terms.keys() else each
            for each in (least, greatest)
        ]
        ranged = replace(self, ranges=(*self.ranges, Range(header.variable, ends[0], ends[1])))
        if step < 0:
            return ranged
        found = told.counted(header, self.linear, calls=self.reads_extremes)
        sure = [each for each in found if ranged._is_sure(each, changed)]
        return replace(ranged, tested=(*self.tested, *sure))

    def after(self, statement: ast.stmt) -> Lengths:
        """What is known after a statement of the function's own body: names of lengths."""
        if not isinstance(statement, ast.Assign):
            return self
        spelled = dict(self.spelled)
        for name in sorted(query.names_written(statement)):
            form = self.sizes.get(name)
            if form is None or form.constant or list(form.terms.values()) != [1]:
                continue
            (text,) = form.terms
            if text.endswith("]"):
                spelled.setdefault(text, nodes.name(name))
        return replace(self, spelled=spelled)


def _last(start: Linear | None, stop: Linear, step: int) -> Linear:
    """The last value of a loop variable, or one that it does not pass."""
    apart = None if start is None else stop.minus(start).value
    beyond = 1 if apart is None else 1 + (apart - 1) % step
    return stop.plus(constant(-beyond))
