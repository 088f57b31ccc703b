"""Where stages stand: beside which loop, at which position, and who reads them there."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.stages import Stage
from astile.rewrites.parts.result import Editor, named


def checked_position(edit: Editor, node: ast.For, index: int) -> int:
    """A position in a loop's body that a user gave.

    Raises:
        ScheduleError: when there is no such position.
    """
    if not 0 <= index <= len(node.body):
        raise ScheduleError(
            f"index={index} is no position in the body of {named(node)}",
            code="schedule.bad-index",
            span=edit.span(node),
            hints=[f"its body has positions 0 to {len(node.body)}; -1 is the last possible one"],
        )
    return index


def statement_at(edit: Editor, position: int) -> ast.stmt:
    """The statement at a position counted over all statements of the function."""
    return list(query.statements(edit.function))[position]


def statements_inside(edit: Editor, stage: Stage, node: ast.For) -> list[ast.stmt]:
    """The statements of a stage inside a loop.

    Raises:
        ScheduleError: when there are none.
    """
    every = list(query.statements(edit.function))
    own = [every[position] for position in stage.positions]
    inside = [each for each in own if any(p is node for p in edit.place(each).parents)]
    if not inside:
        raise ScheduleError(
            f"{stage.name} is not computed inside {named(node)}",
            code="schedule.not-nested",
            hints=["name a loop around it"],
            span=edit.span(node),
        )
    return inside


def outside_nests(edit: Editor, stage: Stage, node: ast.For, *, before: bool) -> list[ast.stmt]:
    """The statements beside the nest of a loop that hold a stage, in order.

    Raises:
        ScheduleError: when the stage is inside the loop, on the wrong side of it, or not in a
            block that holds the loop too.
    """
    chain: list[ast.stmt] = [*edit.place(node).parents, node]
    found: list[ast.stmt] = []
    for position in stage.positions:
        statement = statement_at(edit, position)
        place = edit.place(statement)
        path = [*place.parents, statement]
        if any(each is node for each in place.parents):
            raise ScheduleError(
                f"{stage.name} is computed inside {named(node)} already",
                code="schedule.already-inside",
                span=edit.span(statement),
                hints=["leave this call out, or name a loop of the other stage"],
            )
        depth = 0
        while depth < len(chain) and depth < len(path) and chain[depth] is path[depth]:
            depth += 1
        if not any(path[depth] is each for each in found):
            found.append(path[depth])
    for each in found:
        _check_side(edit, stage, chain, each, before=before)
    return found


def _check_side(
    edit: Editor, stage: Stage, chain: Sequence[ast.stmt], nest: ast.stmt, *, before: bool
) -> None:
    place = edit.place(nest)
    node = chain[-1]
    assert isinstance(node, ast.For)
    other = chain[len(place.parents)]
    beside = [k for k, each in enumerate(place.block) if each is other]
    if not beside:
        raise ScheduleError(
            f"{stage.name} is computed under another condition than {named(node)}",
            code="schedule.not-beside",
            span=edit.span(nest),
            hints=["both must stand in the same block of statements, or in loops of one"],
        )
    if (place.index > beside[0]) == before:
        side, primitive = ("after", "reverse_compute_at") if before else ("before", "compute_at")
        raise ScheduleError(
            f"{stage.name} is computed {side} {named(node)}",
            code="schedule.wrong-direction",
            span=edit.span(nest),
            hints=[f'write `{primitive}("{stage.name}", ...)`'],
        )


def reads_cells(statement: ast.stmt, array: str) -> bool:
    """Whether cells of an array are read below a statement, by ``+=`` too."""
    accessed = query.accesses(statement, array)
    return any(isinstance(each.ctx, ast.Load) for each in accessed) or any(
        isinstance(each, ast.AugAssign) and query.base_name(each.target) == array
        for each in query.statements(statement)
    )
