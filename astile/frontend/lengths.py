"""Lengths and indices as sums: what is known of them without running anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from astile.ir import nodes, query


@dataclass(frozen=True)
class Linear:
    """``constant + sum(coefficient * symbol)``.

    Args:
        terms: symbol -> coefficient, none of them 0; a symbol is a name, or an extent of an array
            as the program writes it, ``"A.shape[0]"``.
        constant: the constant part.
    """

    terms: Mapping[str, int] = field(default_factory=dict)
    constant: int = 0

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """``self + factor * other``."""
        terms = dict(self.terms)
        for symbol, coefficient in other.terms.items():
            total = terms.get(symbol, 0) + factor * coefficient
            if total:
                terms[symbol] = total
            else:
                terms.pop(symbol, None)
        return Linear(terms, self.constant + factor * other.constant)

    def minus(self, other: Linear) -> Linear:
        """``self - other``."""
        return self.plus(other, -1)

    @property
    def value(self) -> int | None:
        """The value when it is a constant, else None."""
        return None if self.terms else self.constant

    def is_zero(self) -> bool:
        """Whether it is always 0."""
        return self.value == 0


def constant(value: int) -> Linear:
    """A number."""
    return Linear({}, value)


def symbol(text: str) -> Linear:
    """A symbol by itself."""
    return Linear({text: 1})


def extent_symbol(array: str, axis: int) -> str:
    """The symbol of the length of an array along an axis."""
    return f"{array}.shape[{axis}]"


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
    """

    sizes: Mapping[str, Linear] = field(default_factory=dict)
    ranges: tuple[Range, ...] = ()
    spelled: Mapping[str, ast.expr] = field(default_factory=dict)
    tested: tuple[Linear, ...] = ()

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

    def _is_at_least_zero(self, form: Linear) -> bool:
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
        return replace(self, ranges=ranges, tested=tested)

    def under(self, test: ast.expr, body: Sequence[ast.stmt]) -> Lengths:
        """What is known in the body of a condition: comparisons of integers hold there.

        Args:
            test: the condition.
            body: what runs under it.
        """
        hidden = {name for each in body for name in query.names_written(each)}
        found = [*self.tested]
        for each in self._compared(test):
            if not hidden & names_in([each]) and all(map(self._is_integer, each.terms)):
                found.append(each)
        return replace(self, tested=tuple(found))

    def _is_integer(self, text: str) -> bool:
        return text.endswith("]") or any(each.variable == text for each in self.ranges)

    def _compared(self, test: ast.expr) -> Iterator[Linear]:
        """The sums that are at least 0 where a condition holds."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for each in test.values:
                yield from self._compared(each)
        if not isinstance(test, ast.Compare):
            return
        sides = [self.linear(each) for each in (test.left, *test.comparators)]
        for left, operator, right in zip(sides, test.ops, sides[1:], strict=False):
            if left is None or right is None:
                continue
            if isinstance(operator, (ast.Gt, ast.GtE)):
                left, right = right, left
            strict = isinstance(operator, (ast.Lt, ast.Gt))
            if strict or isinstance(operator, (ast.LtE, ast.GtE)):
                yield right.minus(left).plus(constant(-int(strict)))

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
        return replace(self, ranges=(*self.ranges, Range(header.variable, ends[0], ends[1])))

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


# --- back to expressions -------------------------------------------------------------------------


def expression(form: Linear, spelled: Mapping[str, ast.expr] | None = None) -> ast.expr:
    """A sum as an expression: ``i + 1``, ``A.shape[0] - 2``.

    Args:
        form: the sum.
        spelled: symbol -> another way to write it.
    """
    parts = sorted(form.terms.items(), key=lambda item: item[1] < 0)
    result: ast.expr | None = None
    for text, coefficient in parts:
        whole = _symbol(text, spelled or {})
        if abs(coefficient) != 1:
            whole = nodes.binary(nodes.const(abs(coefficient)), ast.Mult, whole)
        result = _joined(result, whole, coefficient < 0)
    if result is None:
        return nodes.const(form.constant)
    if form.constant:
        result = _joined(result, nodes.const(abs(form.constant)), form.constant < 0)
    return result


def _joined(before: ast.expr | None, part: ast.expr, is_minus: bool) -> ast.expr:
    if before is None:
        return ast.UnaryOp(ast.USub(), part) if is_minus else part
    return nodes.binary(before, ast.Sub if is_minus else ast.Add, part)


def _symbol(text: str, spelled: Mapping[str, ast.expr]) -> ast.expr:
    if text in spelled:
        return nodes.clone(spelled[text])
    array, _, rest = text.partition(".shape[")
    if not rest:
        return nodes.name(text)
    return nodes.subscript(nodes.attribute(array, "shape"), [nodes.const(int(rest[:-1]))])


def names_in(forms: Iterable[Linear]) -> set[str]:
    """The names that sums are made of."""
    return {text.partition(".")[0] for form in forms for text in form.terms}
