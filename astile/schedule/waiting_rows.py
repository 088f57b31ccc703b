"""Rows whose cells wait for each other, several of them side by side.

Where each cell of a row is computed from the one before it, a processor waits for every result
before it begins the next. Cells of other rows do not wait for these, if each row stays some
columns behind the one above it: then several are on their way at once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.ir import query
from astile.ir.printer import print_expression
from astile.schedule import rest

if TYPE_CHECKING:
    from astile.schedule.schedule import Schedule

#: Rows that run side by side: results enough to fill the time that one of them takes.
_ROWS = 8
#: The most columns by which a row may have to stay behind the one above it.
_FARTHEST = 4
#: So many cells back in its row is what a cell waits for, at most.
_NEAR = 2
_OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Compare, ast.IfExp)
#: The fewest operations from one cell of a row to the next for which it is worth it: where rows
#: begin together, and where they do not, so that it is asked at each cell which of them run.
_CHAIN, _CHAIN_OF_LATE = 2, 4
#: The fewest rows and columns that are worth it: the first and last cells run alone.
_LEAST = (2 * _ROWS, 64)


def lag(nest: Sequence[ast.For]) -> int | None:
    """How many columns a row has to stay behind the one above it, so that none waits for others.

    Args:
        nest: the loops around and including an innermost one, outermost first.

    Returns:
        The columns; None where cells of a row do not wait for each other, or for what is not known.
    """
    if len(nest) < 2 or query.only_statement(nest[-2].body) is not nest[-1]:
        return None
    outer, inner = (query.header(each) for each in nest[-2:])
    if outer is None or inner is None:
        return None
    if not (query.is_constant(outer.step, 1) and query.is_constant(inner.step, 1)):
        return None
    found, is_waiting = 0, False
    for distance in _distances(nest[-1], outer.variable, inner.variable):
        if distance is None:
            return None
        rows, columns, is_flow = distance
        if rows == 0:
            is_waiting |= is_flow and 1 <= columns <= _NEAR
            continue
        # what a row reads of the one above is there before the iteration begins
        found = max(found, -((columns - is_flow) // rows))
    least = _CHAIN_OF_LATE if found else _CHAIN
    is_slow = is_waiting and _chain(nest[-1], inner.variable) >= least
    return found if is_slow and found <= _FARTHEST else None


def _chain(loop: ast.For, column: str) -> int:
    """How many operations a cell takes from when the one before it in its row is known."""
    stored = set(query.written_arrays(loop))
    depths: dict[str, int] = {}  # of scalars; names that do not depend on the row are left out
    longest = 0

    def depth(value: ast.AST) -> int:
        if isinstance(value, ast.Name):
            return depths.get(value.id, -1)
        if isinstance(value, ast.Subscript) and query.base_name(value) in stored:
            last = affine.of(query.indices(value)[-1])
            return 0 if last.coefficient(column) == 1 else -1
        found = max(map(depth, ast.iter_child_nodes(value)), default=-1)
        return found + isinstance(value, _OPERATIONS) if found >= 0 else found

    for statement in query.statements(loop):
        if isinstance(statement, ast.Assign):
            targets, made = statement.targets, depth(statement.value)
        elif isinstance(statement, ast.AugAssign):
            targets, made = [statement.target], depth(statement.value)
            made += made >= 0
        else:
            continue
        for each in targets:
            if isinstance(each, ast.Name):
                depths[each.id] = made
            elif query.base_name(each) in stored:
                longest = max(longest, made)
    return longest


def _distances(body: ast.For, row: str, column: str) -> Iterator[tuple[int, int, bool] | None]:
    """Iterations between the two that use a cell, one of which stores to it.

    Yields:
        Rows and columns from the earlier one to the later one, and whether that one reads what the
        earlier one stored; None for what is not known.
    """
    stored = set(query.written_arrays(body))
    every = [each for each in query.accesses(body) if query.base_name(each) in stored]
    for store in every:
        if not isinstance(store.ctx, ast.Store):
            continue
        for other in every:
            if query.base_name(other) != query.base_name(store) or other is store:
                continue
            steps = _steps(query.indices(store), query.indices(other), row, column)
            if steps is None:
                yield None
                continue
            rows, columns = steps
            is_flow = (rows, columns) > (0, 0)
            yield (rows, columns, True) if is_flow else (-rows, -columns, False)


def _steps(
    store: Sequence[ast.expr], other: Sequence[ast.expr], row: str, column: str
) -> tuple[int, int] | None:
    """How many rows and columns later another access uses the cell that a store writes."""
    if len(store) != len(other):
        return None
    found = {row: 0, column: 0}
    seen = set()
    for one, two in zip(map(affine.of, store), map(affine.of, other), strict=True):
        apart = (one - two).value
        variables = [each for each in (row, column) if one.mentions(each)]
        if apart is None or len(variables) > 1:
            return None
        if not variables:
            if apart:
                return None
            continue
        if one.coefficient(variables[0]) != 1 or one.without(variables[0]).mentions(variables[0]):
            return None
        found[variables[0]] = apart
        seen.add(variables[0])
    return (found[row], found[column]) if len(seen) == len(found) else None


def side_by_side(s: Schedule, nest: Sequence[ast.For], columns: int, few: set[int]) -> None:
    """Run rows side by side, where there are enough of them.

    Args:
        s: the schedule; steps are added to it.
        nest: the loops around and including an innermost one, outermost first.
        columns: how far a row stays behind the one above it.
        few: the identity of the loop over rows that are left is added.

    Raises:
        ScheduleError: when a step is not legal.
    """
    outer, inner = (rest.handle(s, each) for each in nest[-2:])
    variable = outer.var
    wanted = _wanted(nest[-2:])
    if wanted:
        s.specialize(wanted, outer)
    if columns:
        s.skew(outer, inner, columns)
    blocks, rows = s.split(outer, [None, _ROWS], tail="cut")
    s.reorder(blocks, inner, rows)
    s.unroll(rows)
    left = rest.after(s, blocks, variable)
    if left is not None:
        few.add(left.identity)


def _wanted(loops: Sequence[ast.For]) -> str:
    """The condition under which there are enough rows and columns; empty where there are."""
    found = []
    for loop, least in zip(loops, _LEAST, strict=True):
        length = _length(loop)
        if length.value is None or length.value < least:
            found.append(f"{print_expression(length.expression())} >= {least}")
    return " and ".join(found)


def _length(loop: ast.For) -> Affine:
    header = query.header(loop)
    assert header is not None
    return affine.of(header.stop) - affine.of(header.start)
