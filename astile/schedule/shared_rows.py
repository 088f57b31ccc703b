"""Neighbouring nests that use the same rows, row by row in one loop: rows stay in the cache."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from astile.analysis.forms import affine
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.schedule import rest, rows_at_once, rows_inside, select, waiting_rows
from astile.schedule.select import Loop

if TYPE_CHECKING:
    from astile.schedule.schedule import Schedule

#: Most rows at each end that only one of two nests goes over.
_MOST = 4


def pairs(program: Program) -> list[tuple[int, int]]:
    """Identities of loops right after each other whose nests use rows of the same arrays.

    Those are left out of which one reads an array as a whole for each of its rows, and nests of
    which several rows are run at once: what that gains is more, and one loop for both prevents it.

    Args:
        program: the program.
    """
    found = []
    bodies = [program.function.body]
    bodies += [part for each in query.statements(program.function) for part in query.bodies(each)]
    at_once = {
        id(loop)
        for nest in rows_inside.innermost(program)
        if rows_at_once.share_cells(nest) or waiting_rows.lag(nest) is not None
        for loop in nest
    }
    for body in bodies:
        for one, other in itertools.pairwise(body):
            if not (isinstance(one, ast.For) and isinstance(other, ast.For)):
                continue
            identities = nodes.loop_id(one), nodes.loop_id(other)
            if {id(one), id(other)} & at_once or None in identities:
                continue
            if _ends(one, other) is not None and _rows(one) & _rows(other):
                found.append((identities[0] or 0, identities[1] or 0))
    return found


def _ends(one: ast.For, other: ast.For) -> tuple[int, int] | None:
    """How many first and last rows only one of two loops goes over; None for too many."""
    first, second = query.header(one), query.header(other)
    if first is None or second is None:
        return None
    if not (query.is_constant(first.step, 1) and query.is_constant(second.step, 1)):
        return None
    apart = [
        (affine.of(left) - affine.of(right)).value
        for left, right in ((first.start, second.start), (first.stop, second.stop))
    ]
    known = [abs(each) for each in apart if each is not None and abs(each) <= _MOST]
    return (known[0], known[1]) if len(known) == len(apart) else None


def _rows(loop: ast.For) -> set[str]:
    """The arrays whose rows a nest uses one after the other; none where it uses others too."""
    header = query.header(loop)
    if header is None or len(query.loops(loop)) < 2:
        return set()
    found: set[str] = set()
    for access in query.accesses(loop):
        array, indices = query.base_name(access), query.indices(access)
        if array is None:
            return set()
        if len(indices) > 1:
            if not any(header.variable in query.names(each) for each in indices[:-1]):
                return set()
            found.add(array)
    return found


def together(s: Schedule, first: Loop, second: Loop, few: set[int]) -> None:
    """Run two nests row by row in one loop, which several cores can share; ends stand apart.

    Args:
        s: the schedule; steps are added to it.
        first: the loop over rows of the earlier nest.
        second: that of the one right after it.
        few: the identities of loops over ends are added.

    Raises:
        ScheduleError: when a step is not legal.
    """
    one, other = (select.loop_node(s.program, e.identity) for e in (first, second))
    ends = _ends(one, other)
    assert ends is not None
    for each in (first, second):
        s.copy().parallel(Loop(s.copy(), each.identity))
    [rows] = s.merge(first, second)
    s.copy().parallel(Loop(s.copy(), rows.identity))
    if ends == (0, 0):
        return
    known = {e.identity for e in s.loops()}
    s.peel(rows, *ends)
    inner = {rows.identity, *(e.identity for e in rest.inside(s, rows))}
    few |= {e.identity for e in s.loops()} - inner - known | (known & few)
