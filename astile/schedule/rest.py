"""The loop over a few iterations that a split by `tail="cut"` leaves beside its blocks."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from astile.ir import nodes, query
from astile.schedule import select
from astile.schedule.select import Loop

if TYPE_CHECKING:
    from astile.schedule.schedule import Schedule


def handle(s: Schedule, loop: ast.For) -> Loop:
    """The handle of a loop.

    Args:
        s: the schedule.
        loop: one of its program.
    """
    identity = nodes.loop_id(loop)
    assert identity is not None
    return Loop(s, identity)


def inside(s: Schedule, loop: Loop) -> list[Loop]:
    """The loops in the body of a loop.

    Args:
        s: the schedule.
        loop: the loop around them.
    """
    return [handle(s, e) for e in query.loops(select.loop_node(s.program, loop.identity))[1:]]


def after(s: Schedule, blocks: Loop, variable: str) -> Loop | None:
    """The loop after that over blocks, which goes over what is left; None where there is none.

    Args:
        s: the schedule.
        blocks: the loop over blocks.
        variable: of the loop that was split.
    """
    node = select.loop_node(s.program, blocks.identity)
    place = query.find_place(s.program.function, node)
    assert place is not None
    for statement in place.block[place.index + 1 : place.index + 2]:
        header = query.header(statement) if isinstance(statement, ast.For) else None
        if isinstance(statement, ast.For) and header is not None and header.variable == variable:
            return handle(s, statement)
    return None
