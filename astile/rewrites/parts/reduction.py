"""The reduction that a stage is: one statement that updates one cell, or a scalar."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TypeGuard

from astile.analysis.proof.reductions import Update, update_of
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.model import extract
from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.parts.places import statements_inside
from astile.rewrites.parts.result import Editor, is_guard, named


@dataclass(frozen=True)
class Reduction:
    """One statement that updates one cell, or a scalar.

    Args:
        statement: the statement.
        family: what kind of reduction it is.
        array: the array or scalar.
        cell: the cell or name that is updated.
        by_data: the axes along which the index is not known from the loops, ``counts[x[i]]``.
    """

    statement: ast.stmt
    family: str
    array: str
    cell: ast.expr
    by_data: tuple[int, ...]

    @property
    def indices(self) -> list[ast.expr]:
        """The indices of the cell; a scalar has none."""
        return query.indices(self.cell) if isinstance(self.cell, ast.Subscript) else []

    @property
    def known(self) -> dict[int, ast.expr]:
        """Axis -> index, for those that the loops around tell."""
        found = enumerate(self.indices)
        return {axis: index for axis, index in found if axis not in self.by_data}


def reduction_of(edit: Editor, stage: Stage, node: ast.For) -> Reduction:
    """The reduction that a stage is inside a loop that it does not keep apart.

    Raises:
        ScheduleError: when it is none, or has a cell for each iteration of the loop.
    """
    statement, update = _update(edit, stage, node)
    cell = _written(statement, stage.array)
    if isinstance(statement, ast.If) and isinstance(cell, ast.Name):
        raise ScheduleError(
            f"the scalar {stage.array} is updated under a condition on data",
            code="schedule.no-reduction",
            span=edit.span(statement),
            hints=[f"write `{stage.array} = max({stage.array}, ...)`, or use a cell of an array"],
        )
    found = Reduction(statement, update.family, stage.array, cell, _by_data(edit, update, cell))
    variable = edit.header(node).variable
    if any(variable in query.names(each) for each in found.known.values()):
        raise ScheduleError(
            f"{stage.name} has a cell for each iteration of {named(node)}, which reduces nothing",
            code="schedule.no-reduction",
            span=edit.span(cell),
            hints=["name a loop over what is summed up"],
        )
    return found


def _update(edit: Editor, stage: Stage, node: ast.For) -> tuple[ast.stmt, Update]:
    """The only statement of a stage inside a loop, as an update."""
    inside = statements_inside(edit, stage, node)
    plain, originals = _without_guards(edit.program)
    try:
        model = extract(plain)
    except NotModelled as unread:
        raise ScheduleError(
            f"{stage.name} is not known to be a reduction: {unread.reason}",
            code="schedule.no-reduction",
            hints=["write it as `s += ...` or `s = max(s, ...)`"],
            span=edit.span(unread.node),
        ) from None
    leaves = {id(statement) for each in inside for statement in (each, *edit.place(each).parents)}
    updates = [
        (original, update)
        for each in model.statements
        if id(original := originals[id(each.leaf.node)]) in leaves
        and (update := update_of(each)) is not None
    ]
    again = [
        access
        for _, update in updates
        for access in update.statement.reads
        if access.array == update.array and access.slot not in update.own
    ]
    is_one = [update.array for _, update in updates] == [stage.array] and len(inside) == 1
    if is_one and again and again[0].node is not None:
        other = again[0].node
        raise ScheduleError(
            f"{stage.name} is not updated by one statement that reads nothing else of it: it reads "
            f"{print_expression(other)} too",
            code="schedule.no-reduction",
            span=edit.span(other),
            label="another cell may be read here",
            hints=["sum up in an array or a scalar of its own, and update this cell from that"],
        )
    if again or not is_one:
        raise ScheduleError(
            f"{stage.name} is not updated by one statement like `s += ...` or `s = max(s, ...)` "
            f"inside {named(node)}",
            code="schedule.no-reduction",
            span=edit.span(inside[0]),
            hints=["sums, products, minima and maxima of one cell can be reduced in parts"],
        )
    return updates[0]


def _without_guards(program: Program) -> tuple[Program, dict[int, ast.stmt]]:
    """A program without the guards of tails, and its statements' identity -> the original.

    Whether a guard holds does not change how a statement updates its cell. A guard that is not
    affine would hide the statements in it.
    """
    new = program.cloned()

    def others(function: ast.stmt) -> list[ast.stmt]:
        return [e for e in query.statements(function) if not _is_tail(e)]

    before, after = others(program.function), others(new.function)
    pending: list[ast.stmt] = [new.function]
    while pending:
        for body in query.bodies(pending.pop()):
            while any(map(_is_tail, body)):
                body[:] = [s for e in body for s in (e.body if _is_tail(e) else [e])]
            pending += body
    return new, {id(mine): theirs for mine, theirs in zip(after, before, strict=True)}


def _is_tail(statement: ast.stmt) -> TypeGuard[ast.If]:
    return isinstance(statement, ast.If) and is_guard(statement)


def _written(statement: ast.stmt, array: str) -> ast.expr:
    """The cell or name that a statement writes."""
    for each in ast.walk(statement):
        if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            if query.base_name(each) == array:
                return each
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.id == array:
            return each
    raise AssertionError("an update writes its array")


def _by_data(edit: Editor, update: Update, cell: ast.expr) -> tuple[int, ...]:
    """The axes of the cell whose index is known only when the program runs."""
    [write] = [each for each in update.statement.writes if each.slot == update.write]
    found = tuple(axis for axis, index in enumerate(write.indices) if index is None)
    indices = query.indices(cell) if isinstance(cell, ast.Subscript) else []
    if len(indices) != len(write.indices) or any(
        isinstance(indices[axis], (ast.Slice, ast.Starred)) for axis in found
    ):
        raise ScheduleError(
            f"several cells of {update.array} are updated at once",
            code="schedule.no-reduction",
            span=edit.span(cell),
            hints=["write a loop over them, with one index for each axis"],
        )
    return found
