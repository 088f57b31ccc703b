"""Statements over slices become loops over their cells."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

import numpy as np

from astile.frontend import sums
from astile.frontend.arrays import Facts
from astile.frontend.cell_types import cell_type, types_of
from astile.frontend.cells import CELLWISE_OPERATORS, Cells, place
from astile.frontend.guards import guarded
from astile.frontend.lengths import Lengths
from astile.frontend.new_names import NewNames
from astile.frontend.spans import Assumed, Kept, Span, SpanReader
from astile.frontend.vocabulary import numpy_word
from astile.frontend.walk import edited
from astile.ir import nodes, query
from astile.ir.needs import Fits
from astile.ir.printer import print_expression
from astile.ir.program import Program


def slices(program: Program) -> Program:
    """Turn statements that store into slices into loops, where both do the same.

    NumPy computes the whole value before it stores the first cell. Where a loop would store a cell
    that a later iteration reads, the values wait in an array of their own, or the statement stays.

    Args:
        program: is not changed.

    Before::

        def f(A, B, n):
            for i in range(n):
                A[i, 1:] = 0.5 * B[i, :-1]

    After::

        def f(A, B, n):
            if A.shape[1] != B.shape[1]:
                raise ValueError("A[i, 1:] and B[i, :-1] have different lengths")
            for i in range(n):
                for j in range(1, A.shape[1]):
                    A[i, j] = 0.5 * B[i, j - 1]
    """
    new = program.cloned()
    assumed = Assumed()
    slicer = _Slicer(new, assumed)
    changed = edited(new.function, slicer.facts.known(), slicer.rewritten)
    if not changed:
        return program
    new = guarded(new, assumed)
    return replace(
        new,
        imports={**new.imports, **slicer.names.imports},
        needs=tuple(dict.fromkeys((*program.needs, *assumed.needs))),
    )


class _Slicer:
    def __init__(self, program: Program, assumed: Assumed) -> None:
        self.program, self.assumed = program, assumed
        self.facts = Facts(program)
        self.names = NewNames(program)

    def rewritten(self, statement: ast.stmt, known: Lengths) -> list[ast.stmt] | None:
        """The loops in place of a statement, or None where it stays."""
        found = _stored(statement, self.facts)
        if found is None:
            return None
        own = Assumed()
        try:
            made = _Statement(self, known, own).loops(statement, *found)
        except Kept:
            return None
        self.assumed.join(own)
        return made


def _stored(
    statement: ast.stmt, facts: Facts
) -> tuple[ast.expr, type[ast.operator] | None, ast.expr] | None:
    """Target, operator of an update, and value of a statement that may store many cells."""
    match statement:
        case ast.Expr(
            value=ast.Call(
                func=function, args=arguments, keywords=[ast.keyword(arg="out", value=target)]
            )
        ) if isinstance(getattr(np, numpy_word(facts.program, function) or "", None), np.ufunc):
            return target, None, nodes.call(nodes.clone(function), arguments)
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            return target, None, value
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
            return target, type(op), value
        case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value) if (
            name in facts.ranks
        ):
            return target, type(op), value
    return None


@dataclass
class _Statement:
    """One statement while it is rewritten.

    Args:
        slicer: gives names.
        known: what is known of integers where it stands.
        assumed: collects what is assumed.
    """

    slicer: _Slicer
    known: Lengths
    assumed: Assumed

    def loops(
        self,
        statement: ast.stmt,
        target: ast.expr,
        operator: type[ast.operator] | None,
        value: ast.expr,
    ) -> list[ast.stmt] | None:
        """The statements in its place; None where it stores one cell.

        Raises:
            Kept: where they would not do the same.
        """
        facts = self.slicer.facts
        self.reader = SpanReader(facts, self.known, self.assumed)
        written = self.reader.part(target)
        if written is None or not written.spans:
            return None
        if written.added:
            raise Kept("an axis that is added to what is stored")
        if operator is not None and not issubclass(operator, CELLWISE_OPERATORS):
            raise Kept("an operator that is computed another way for whole arrays")
        self.reader.require_inside(written)
        shown = print_expression(nodes.substitute(target, {}))
        self.cells = cells = Cells(self.slicer.names, self.reader, written.spans, shown)
        self.written = replace(written, axes=tuple(map(cells.settled, written.axes)))
        cells.written = self.written
        if isinstance(value, ast.Tuple) and operator is None:
            return self._listed(statement, value)
        cell = cells.cell(value)
        if operator is not None:
            cells.require_numbers(operator, target, value)
        self._require_types(operator, value)
        self.assumed.add(facts.needs_of(query.names_read(statement) | {written.array}))
        made = self._with_wait(operator, cell) if cells.waits else [self._plain(operator, cell)]
        nest = [*cells.before, *made]
        for each in nest:
            place(statement, each)
        return nest

    def _listed(self, statement: ast.stmt, value: ast.Tuple) -> list[ast.stmt]:
        """``A[i] = x, y, z``: a row of as many cells as there are numbers."""
        facts, array = self.slicer.facts, self.written.array
        numbers = value.elts
        if len(self.written.spans) != 1 or not all(map(facts.is_number, numbers)):
            raise Kept("rows, or what is no number")
        (span,) = self.written.spans
        self.cells.require_length(span, len(numbers))
        if array in query.names_read(value):  # all of them are computed before the first is stored
            numbers = [
                each if isinstance(each, ast.Constant) else self.cells.computed_once(each)
                for each in numbers
            ]
        self.assumed.add(facts.needs_of(query.names_read(statement) | {array}))
        stored = []
        for position, each in enumerate(numbers):
            index = self._shown(span.start.plus(sums.constant(position)))
            axes = [index if isinstance(axis, Span) else axis for axis in self.written.axes]
            cell = nodes.subscript(array, list(map(nodes.clone, axes)), store=True)
            stored.append(nodes.assign(cell, nodes.clone(each)))
        made: list[ast.stmt] = [*self.cells.before, *stored]
        for made_one in made:
            place(statement, made_one)
        return made

    def _require_types(self, operator: type[ast.operator] | None, value: ast.expr) -> None:
        """Assume that cells take the value by casts that NumPy makes for whole arrays too."""
        if operator is None and _is_literal(value):
            return
        facts = self.slicer.facts
        target = cell_type(facts, self.written.array)
        sources = types_of(facts, value)
        if target is None or sources is None:
            raise Kept("a value of a type that is not known")
        if operator is not None and issubclass(operator, ast.Div):
            sources = {*sources, ("weak", "float")}
        if target[0] == "dtype" and all(each[0] == "weak" for each in sources):
            if not Fits(target, tuple(sources)).holds({}):
                raise Kept("a value that does not fit into the cells")
            return
        self.assumed.add([Fits(target, tuple(sorted(sources)))])

    # --- loops ----------------------------------------------------------------------------------

    def _plain(self, operator: type[ast.operator] | None, cell: ast.expr) -> ast.stmt:
        place = self._place(store=True)
        made: ast.stmt = nodes.assign(place, cell)
        if operator is not None:
            made = nodes.update(place, operator, cell)
        return self.cells.nest(made)

    def _with_wait(self, operator: type[ast.operator] | None, cell: ast.expr) -> list[ast.stmt]:
        """All values are computed into an array of their own, and then stored."""
        if any(each.step != 1 for each in self.written.spans):
            raise Kept("overlapping slices with a step")
        array = self.written.array
        waiting = self.slicer.names.fresh(f"{array}_new")
        shape = [self.cells.length(each) for each in self.written.spans]
        dtype = nodes.attribute(array, "dtype")
        arguments = [shape[0] if len(shape) == 1 else nodes.tuple_of(shape), dtype]
        allocated = nodes.assign(waiting, nodes.call(self.slicer.names.numpy("empty"), arguments))
        if operator is not None:
            cell = nodes.binary(self._place(), operator, cell)
        filled = self.cells.nest(nodes.assign(self._waiting(waiting, store=True), cell))
        stored = nodes.assign(self._place(store=True), self._waiting(waiting))
        return [allocated, filled, self.cells.nest(stored)]

    def _waiting(self, array: str, *, store: bool = False) -> ast.Subscript:
        pairs = zip(self.cells.variables, self.written.spans, strict=True)
        forms = [sums.symbol(name).minus(span.start) for name, span in pairs]
        return nodes.subscript(array, [sums.expression(e) for e in forms], store=store)

    def _place(self, *, store: bool = False) -> ast.Subscript:
        variables = iter(self.cells.variables)
        indices = [
            nodes.name(next(variables)) if isinstance(each, Span) else nodes.clone(each)
            for each in self.written.axes
        ]
        return nodes.subscript(self.written.array, indices, store=store)

    def _shown(self, form: sums.Linear) -> ast.expr:
        """A sum, with the user's names of lengths."""
        return sums.expression(form, self.known.spelled)


def _is_literal(value: ast.expr) -> bool:
    match value:
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _is_literal(operand)
    return isinstance(value, ast.Constant)
