"""The value of one cell of an expression over whole arrays, as the body of a loop computes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from astile.frontend import sums
from astile.frontend.arrays import Facts
from astile.frontend.cell_types import types_of
from astile.frontend.new_names import NewNames
from astile.frontend.overlaps import first_reads
from astile.frontend.spans import Kept, Part, Span, SpanReader
from astile.frontend.vocabulary import CELLWISE, numpy_word, path_of
from astile.ir import nodes, query
from astile.ir.needs import Arithmetic
from astile.ir.printer import print_expression

#: Operators that compute each cell of their result from the same cell of their operands.
CELLWISE_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod,
    ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift,
)  # fmt: skip


class Cells:
    """Reads expressions over whole arrays, one cell at a time.

    Args:
        names: gives names.
        reader: of the accesses where the statement stands.
        spans: what the loops go over, outermost first.
        shown: what belongs to the spans as the user wrote it, for messages.
    """

    def __init__(
        self, names: NewNames, reader: SpanReader, spans: Sequence[Span], shown: str
    ) -> None:
        self.names, self.reader, self.facts = names, reader, reader.facts
        self.spans, self.shown = spans, shown
        self.variables = names.variables(len(spans))
        #: Statements that stand before the loops.
        self.before: list[ast.stmt] = []
        #: Where the values are stored.
        self.written: Part | None = None
        #: Whether all values have to be there before the first is stored.
        self.waits = False

    def nest(self, statement: ast.stmt) -> ast.stmt:
        """A statement in the loops over all cells."""
        for variable, span in reversed(list(zip(self.variables, self.spans, strict=True))):
            statement = nodes.for_loop(variable, self._range(span), [statement])
        return statement

    def length(self, span: Span) -> ast.expr:
        """How many indices a span of step 1 has."""
        return self.reader.count(span)

    def count(self) -> ast.expr:
        """How many cells the loops go over.

        Raises:
            Kept: for spans with a step.
        """
        if any(each.step != 1 for each in self.spans):
            raise Kept("a number of cells that is no sum")
        first, *others = map(self.length, self.spans)
        for each in others:
            first = nodes.binary(first, ast.Mult, each)
        return first

    def require_length(self, span: Span, count: int) -> None:
        """Assume that a span has so many indices.

        Raises:
            Kept: where that cannot be assumed.
        """
        more = span.stop.minus(span.start).plus(sums.constant(-count))
        message = f"{self.shown} does not have {count} cells"
        if span.clipped is not None or span.step != 1:
            raise Kept("a slice of an unknown length")
        for form in (more, sums.constant(0).minus(more)):
            self.reader.require_not_negative(form, message)

    def first(self, cell: ast.expr) -> ast.expr:
        """A cell in the first iteration of the loops, which is assumed to be there.

        Args:
            cell: over the variables of the loops.

        Raises:
            Kept: where that cannot be assumed.
        """
        starts: dict[str, ast.expr] = {}
        for variable, span in zip(self.variables, self.spans, strict=True):
            ends = [span.stop] if span.clipped is None else [span.stop, span.extent]
            for end in ends:
                gap = end.minus(span.start) if span.step > 0 else span.start.minus(end)
                if not self.reader.assume_not_negative(gap.plus(sums.constant(-1))):
                    raise Kept("a slice that may be empty")
            starts[variable] = self._shown(span.start)
        return nodes.substitute(cell, starts)

    def _shown(self, form: sums.Linear) -> ast.expr:
        """A sum, with the user's names of lengths."""
        return sums.expression(form, self.reader.known.spelled)

    def _range(self, span: Span) -> ast.expr:
        stop = nodes.clone(span.clipped) if span.clipped else self._shown(span.stop)
        arguments = [self._shown(span.start), stop, nodes.const(span.step)]
        if span.step == 1:
            arguments.pop()
            if span.start.is_zero():
                arguments.pop(0)
        return nodes.call("range", arguments)

    def settled(self, axis: ast.expr | Span) -> ast.expr | Span:
        """An index that is no plain one is computed once."""
        if isinstance(axis, Span) or not any(
            isinstance(node, (ast.Subscript, ast.Call)) for node in ast.walk(axis)
        ):
            return axis
        return self.computed_once(axis)

    def cell(self, value: ast.expr) -> ast.expr:
        """The value of one cell, over the variables of the loops.

        Raises:
            Kept: for what is not computed cell by cell.
        """
        if self.facts.is_number(value):
            return self._number(value)
        match value:
            case ast.Name() | ast.Subscript():
                part = self.reader.part(value)
                if part is None or not part.spans:
                    raise Kept("a name that is not known to be an array")
                return self._read(part, value)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return self._power(left, right)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, CELLWISE_OPERATORS):
                self.require_numbers(type(op), left, right)
                return nodes.binary(self.cell(left), type(op), self.cell(right))
            case ast.UnaryOp(op=op, operand=operand) if not isinstance(op, ast.Not):
                return ast.UnaryOp(type(op)(), self.cell(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return nodes.compare(self.cell(left), type(op), self.cell(right))
            case ast.Call(func=function, args=arguments, keywords=[]):
                is_abs = path_of(self.facts.program, function) == "abs"
                if is_abs or numpy_word(self.facts.program, function) in CELLWISE:
                    return nodes.call(nodes.clone(function), [self.cell(e) for e in arguments])
        raise Kept("a value that is not computed cell by cell")

    def require_numbers(self, operator: type[ast.operator], *operands: ast.expr) -> None:
        """Assume that no truth values are divided or shifted, which NumPy computes in int8.

        Raises:
            Kept: where types are not known.
        """
        if not issubclass(operator, (ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift)):
            return
        types = [types_of(self.facts, each) for each in operands]
        known = [each for each in types if each is not None]
        if len(known) < len(types):
            raise Kept("a quotient of an unknown type")
        self.reader.assumed.add([Arithmetic(tuple(sorted(set().union(*known))))])

    def _power(self, base: ast.expr, exponent: ast.expr) -> ast.expr:
        """``A[i, :] ** 2``: NumPy squares whole arrays, and calls `pow` for single cells."""
        number = query.integer(exponent)
        if number is None or number < 2:
            raise Kept("a power that is computed another way for whole arrays")
        types = types_of(self.facts, base)
        if types is None:
            raise Kept("a power of an unknown type")
        self.reader.assumed.add([Arithmetic(tuple(sorted(types)))])
        cell = self.cell(base)
        if number > 2:
            return nodes.call(self.names.numpy("power"), [cell, nodes.const(number)])
        if isinstance(cell, (ast.Name, ast.Subscript)):
            return nodes.binary(cell, ast.Mult, nodes.clone(cell))
        return nodes.call(self.names.numpy("square"), [cell])

    def _number(self, value: ast.expr) -> ast.expr:
        """A number that is the same for all cells: computed once where that may matter."""
        if _is_plain(value) or self._is_untouched_cell(value):
            return nodes.clone(value)
        return self.computed_once(value)

    def _is_untouched_cell(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Subscript) or isinstance(value.value, ast.Attribute):
            return False
        if not all(map(_is_plain, query.indices(value))):
            return False
        part = self.reader.part(value)
        if part is None or not all(
            self.reader.is_inside(part.array, axis, index)
            for axis, index in enumerate(query.indices(value))
        ):
            return False
        return not self._is_stored_before(part)

    def computed_once(self, value: ast.expr) -> ast.expr:
        """A name that holds a number before the loops."""
        name = self.names.fresh("value")
        self.before.append(nodes.assign(name, nodes.clone(value)))
        return nodes.name(name)

    def _read(self, part: Part, access: ast.expr) -> ast.expr:
        """The cell of a part that belongs to the one that the loops are at."""
        own, placed = self.spans, part.placed
        if len(placed) > len(own):
            raise Kept("a value with more axes than the loops go over")
        self.reader.require_inside(part)
        skipped = len(own) - len(placed)
        every = zip(self.variables[skipped:], own[skipped:], placed, strict=True)
        pairs = iter([(name, span) for name, span, other in every if other is not None])
        part = replace(part, axes=tuple(map(self.settled, part.axes)))
        shown = f"{self.shown} and {print_expression(access)} have different lengths"
        indices: list[ast.expr] = []
        for axis in part.axes:
            if isinstance(axis, Span):
                indices.append(self._index(*next(pairs), axis, shown))
            else:
                indices.append(nodes.clone(axis))
        self.waits |= self._is_stored_before(part)
        return nodes.subscript(part.array, indices)

    def _index(self, variable: str, own: Span, other: Span, shown: str) -> ast.expr:
        offset = self.reader.offset(own, other, shown)
        factor = 1 if own.step == other.step else -1
        return self._shown(sums.Linear({variable: factor}).plus(offset))

    def _is_stored_before(self, part: Part) -> bool:
        """Whether a cell may be stored by one iteration and read by a later one."""
        if self.written is None or part.array != self.written.array:
            return False
        return not first_reads(self.reader.known, self.written, part, self.written.spans)


def covered(parts: Sequence[Part]) -> tuple[Span, ...]:
    """The axes of a value that is computed from parts, each as the first part that has it.

    Args:
        parts: what cells are read from.

    Raises:
        Kept: where no part has one of the axes.
    """
    widest = max(len(each.placed) for each in parts)
    every = [(*[None] * (widest - len(each.placed)), *each.placed) for each in parts]
    axes = [[each for each in axis if each is not None] for axis in zip(*every, strict=True)]
    found = [min(axis, key=_is_clipped, default=None) for axis in axes]
    spans = tuple(each for each in found if each is not None)
    if len(spans) < widest:
        raise Kept("an axis that no array has")
    return spans


def _is_clipped(span: Span) -> bool:
    return span.clipped is not None


def accesses(facts: Facts, value: ast.expr) -> Iterator[ast.expr]:
    """The arrays and parts of arrays that an expression is computed from, numbers left out.

    Args:
        facts: what the names of the program hold.
        value: an expression.
    """
    if facts.is_number(value):
        return
    if isinstance(value, (ast.Name, ast.Subscript)):
        yield value
        return
    for child in ast.iter_child_nodes(value):
        if isinstance(child, ast.expr):
            yield from accesses(facts, child)


def place(source: ast.stmt, made: ast.AST) -> None:
    """Statements stand where the user wrote theirs; loops that astile made stand nowhere."""
    for node in ast.walk(made):
        if not isinstance(node, ast.For) and not hasattr(node, "lineno"):
            nodes.copy_place(source, node)


def _is_plain(value: ast.expr) -> bool:
    """Whether a number can be computed again and again: names, literals, sums and products."""
    match value:
        case ast.Constant() | ast.Name():
            return True
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _is_plain(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return _is_plain(left) and _is_plain(right)
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=int() | float() as by)):
            return bool(by) and _is_plain(left)
    return False
