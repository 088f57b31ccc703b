"""How the threads of a block share the loops inside it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import prod

from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.schedule import select
from astile.schedule.recipes.whole import recipe
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop

#: Axes of blocks and of threads, slowest first.
BLOCKS = ("blockIdx.y", "blockIdx.x")
THREADS = ("threadIdx.y", "threadIdx.x")


@recipe
def cooperate(
    s: Schedule, copy: Sequence[Loop], threads: Sequence[int], prefix: str
) -> tuple[Loop, ...]:
    """Let all threads of a block run a copy of one or two axes, whatever its size.

    Neighbouring threads copy neighbouring cells of the last axis.

    Args:
        s: the schedule.
        copy: the loops of the copy, as `cache_read` returns them.
        threads: threads of the block along y and x.
        prefix: how to name new loops: ``A_turn``, ``A_y``, ``A_x``.

    Returns:
        The loops that are bound, y before x.

    Raises:
        ScheduleError: when the copy has no loop of literal length.
    """
    rows, columns = threads
    cells = prod(extent(s, each) for each in copy)
    if len(copy) == 2:
        turns = prod(-(-extent(s, e) // count) for e, count in zip(copy, threads, strict=True))
        if turns <= -(-cells // (rows * columns)):  # no thread would be idle that need not be
            return spread(s, copy, threads)
    whole = copy[0] if len(copy) == 1 else s.fuse(*copy)[0]
    names = [s.program.fresh_name(f"{prefix}_{each}") for each in ("turn", "y", "x")]
    if cells == rows * columns:
        bound = s.split(whole, [rows, columns], names=names[1:])
    else:
        bound = s.split(whole, [None, rows, columns], names=names)[1:]
    for loop, axis in zip(bound, THREADS, strict=True):
        s.bind(loop, axis)
    return bound


def spread(
    s: Schedule, loops: Sequence[Loop], counts: Sequence[int], axes: Sequence[str] = THREADS
) -> tuple[Loop, ...]:
    """Bind loops to threads; a loop that is longer than there are threads runs in turns.

    Args:
        s: the schedule.
        loops: nested loops, outermost first.
        counts: the threads for each of them.
        axes: the axis for each of them.

    Returns:
        The loops that are bound.

    Raises:
        ScheduleError: when a loop has no literal length.
    """
    now: list[Loop] = []
    turns: list[Loop] = []
    bound: list[Loop] = []
    for loop, count in zip(loops, counts, strict=True):
        made: tuple[Loop, ...] = (loop,)
        if extent(s, loop) > count:
            names = [s.program.fresh_name(f"{loop.var}_{each}") for each in ("turn", "lane")]
            made = s.split(loop, [None, count], names=names)
        now += made
        turns += made[:-1]
        bound.append(made[-1])
    if now != [*turns, *bound]:
        s.reorder(*turns, *bound)
    for loop, axis in zip(bound, axes, strict=True):
        s.bind(loop, axis)
    return tuple(bound)


def extent(s: Schedule, loop: Loop) -> int:
    """The literal length of a loop from 0.

    Raises:
        ScheduleError: when it has none.
    """
    header = query.header(select.loop_node(s.program, loop.identity))
    found = None if header is None else query.integer(header.stop)
    if found is None:
        raise ScheduleError(
            f"the loop over {loop.var} has no literal length",
            code="schedule.not-literal",
            hints=["split it by a number first"],
        )
    return found


def directly_inside(s: Schedule, loops: Sequence[Loop]) -> list[Loop]:
    """The counted loops in the bodies of some loops, in program order."""
    bodies = [select.loop_node(s.program, each.identity).body for each in loops]
    found = [e for body in bodies for e in body if isinstance(e, ast.For) and query.header(e)]
    return [Loop(s, i) for each in found if (i := nodes.loop_id(each)) is not None]


def inside(s: Schedule, loop: Loop) -> list[Loop]:
    """All counted loops in a loop, in program order."""
    found = query.loops(select.loop_node(s.program, loop.identity))[1:]
    return [Loop(s, i) for each in found if (i := nodes.loop_id(each)) is not None]


def allocated(s: Schedule) -> set[str]:
    """The arrays that the function allocates in slow memory."""
    made = [query.allocation(each) for each in query.statements(s.program.function)]
    return {each.array for each in made if each is not None and each.scope == "global"}
