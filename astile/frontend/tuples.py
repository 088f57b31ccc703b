"""Assignments of several names at once become one assignment each, where the order is free."""

from __future__ import annotations

import ast
from dataclasses import replace

from astile.frontend import sums
from astile.frontend.arrays import Facts
from astile.frontend.guards import guarded
from astile.frontend.spans import Assumed, Kept, Span, SpanReader
from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.ir.program import Program


def tuples(program: Program) -> Program:
    """Part assignments of tuples and rows to names; values that are exchanged wait under a name.

    Assignments of cells (``A[i], A[j] = A[j], A[i]``) and of arrays (``A, B = B, A``) stay.

    Args:
        program: is not changed.

    Before::

        def f(A, B, n):
            s, count = 0.0, 0
            a, b = A[0], A[1]
            a, b = b, a
            x, y = B[1]

    After::

        def f(A, B, n):
            if B.shape[1] != 2:
                raise ValueError("B[1] does not have 2 cells")
            s = 0.0
            count = 0
            a = A[0]
            b = A[1]
            value = b
            b = a
            a = value
            x = B[1, 0]
            y = B[1, 1]
    """
    if not any(map(_may_be_one, query.statements(program.function))):
        return program  # as most are: do not read all that is known of them
    new = program.cloned()
    parter = _Parter(new)
    changed = [parter.edit(block) for block in parter.blocks()]
    if not any(changed):
        return program
    new = guarded(new, parter.assumed)
    return replace(new, needs=tuple(dict.fromkeys((*program.needs, *parter.assumed.needs))))


def _may_be_one(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple)


class _Parter:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.facts = Facts(program)
        self.assumed = Assumed()
        self.taken = program.used_names()

    def blocks(self) -> list[list[ast.stmt]]:
        """Every statement list of the function."""
        return [
            block
            for statement in query.statements(self.program.function)
            for block in query.bodies(statement)
        ]

    def edit(self, block: list[ast.stmt]) -> bool:
        """Part the assignments of one list, in place."""
        done: list[ast.stmt] = []
        for statement in block:
            made = self._parted(statement)
            done += [statement] if made is None else made
        has_changed = done != block
        block[:] = done
        return has_changed

    def _parted(self, statement: ast.stmt) -> list[ast.stmt] | None:
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(
                targets
            ) == len(values):
                names = [each.id for each in targets if isinstance(each, ast.Name)]
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Subscript() as row) if (
                self.facts.axes(row) == 1
            ):
                own = Assumed()
                try:
                    made_of_row = self._of_row(statement, targets, row, own)
                except Kept:
                    return None
                self.assumed.join(own)
                return made_of_row
            case _:
                return None
        if len(names) != len(targets) or len(set(names)) != len(names):
            return None
        if any(isinstance(node, ast.Starred) for each in values for node in ast.walk(each)):
            return None
        later = [
            any(name in query.names(each) for each in values[position + 1 :])
            for position, name in enumerate(names)
        ]
        if any(later) and not all(map(self._is_number, names, values)):
            return None
        made: list[ast.stmt] = []
        waiting: list[ast.stmt] = []
        for name, value, is_read in zip(names, values, later, strict=True):
            if is_read:
                held = self._fresh()
                made.append(nodes.assign(held, value))
                waiting.append(nodes.assign(name, nodes.name(held)))
            else:
                made.append(nodes.assign(name, value))
        return [nodes.copy_place(statement, each) for each in [*made, *waiting]]

    def _of_row(
        self, statement: ast.stmt, targets: list[ast.expr], row: ast.expr, own: Assumed
    ) -> list[ast.stmt]:
        """``x, y = A[i]``: a cell for each name, where the row has as many.

        Raises:
            Kept: where that cannot be assumed, or what picks the row changes in between.
        """
        names = [each.id for each in targets if isinstance(each, ast.Name)]
        part = SpanReader(self.facts, self.facts.known(), own).part(row)
        if part is None or len(names) != len(targets) or set(names) & query.names_read(row):
            raise Kept("cells, or a name that picks the row")
        (span,) = part.spans
        if part.added or span.clipped is not None or span.step != 1:
            raise Kept("a row that is cut, or has a step")
        reader = SpanReader(self.facts, self.facts.known(), own)
        more = span.stop.minus(span.start).plus(sums.constant(-len(names)))
        for form in (more, sums.constant(0).minus(more)):
            shown = print_expression(nodes.clone(row))
            reader.require_not_negative(form, f"{shown} does not have {len(names)} cells")
        own.add(self.facts.needs_of(query.names_read(row)))
        made: list[ast.stmt] = []
        for position, name in enumerate(names):
            index = sums.expression(span.start.plus(sums.constant(position)))
            axes = [index if isinstance(each, Span) else nodes.clone(each) for each in part.axes]
            made.append(
                nodes.copy_place(statement, nodes.assign(name, nodes.subscript(part.array, axes)))
            )
        return made

    def _is_number(self, name: str, value: ast.expr) -> bool:
        return name in self.facts.numbers and self.facts.is_number(value)

    def _fresh(self) -> str:
        number, result = 0, "value"
        while result in self.taken:
            number += 1
            result = f"value_{number}"
        self.taken.add(result)
        return result
