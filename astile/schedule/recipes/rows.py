"""Reductions of rows by the threads of a block: softmax, layer normalisation, norms."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.forms import affine
from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.printer import print_expression
from astile.schedule import select
from astile.schedule.recipes.cooperation import directly_inside
from astile.schedule.recipes.whole import recipe
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop


@recipe
def row_reduction(s: Schedule, row: Loop | str, threads: int = 256, cells: int = 0) -> Loop:
    """A thread block for each row, whose threads share all loops over the row.

    Neighbouring threads take neighbouring cells. Each thread reduces its cells in a register; a
    sum, product, minimum or maximum of the row is then read from shared memory by every thread,
    on a GPU by the 32 lanes of each warp together. A thread that has no cell of the row holds
    what changes nothing.

    Args:
        s: the schedule.
        row: the loop over rows; in its body are loops over the cells of a row, one after another.
        threads: threads of a block, a multiple of 32 for warps to share the reductions.
        cells: how many cells of a row each thread keeps in registers. A row of at most
            `threads * cells` cells is then read once and written once; longer ones have a version
            of their own, as all have with 0.

    Returns:
        The loop over rows, that of the short ones where there are two.

    Raises:
        ScheduleError: when there is no such loop, and as `rfactor` and `bind`.
    """
    rows = s.handle(row)
    others: tuple[Loop, ...] = ()
    if cells:
        extents = _extents(s, rows)
        short = [f"{each} <= {threads * cells}" for each in extents if not each.isdigit()]
        if any(each.isdigit() and int(each) > threads * cells for each in extents):
            cells = 0
        elif short:
            others = s.specialize(" and ".join(short), rows)[:1]
    _shared(s, rows, threads, cells)
    for each in others:
        _shared(s, each, threads, 0)
    return rows


def _extents(s: Schedule, rows: Loop) -> list[str]:
    """How long the loops over the cells of a row are, as text."""
    found: dict[str, None] = {}
    for loop in directly_inside(s, [rows]):
        header = query.header(select.loop_node(s.program, loop.identity))
        assert header is not None
        length = affine.of(header.stop) - affine.of(header.start)
        found[print_expression(length.expression())] = None
    return list(found)


def _shared(s: Schedule, rows: Loop, threads: int, cells: int) -> None:
    """Let the threads of a block share the loops over a row.

    Args:
        s: the schedule.
        rows: the loop over rows.
        threads: threads of a block.
        cells: the most cells of a row for each thread; 0 when that is not known.
    """
    kept = _used_again(s, rows) if cells else []
    loops = directly_inside(s, [rows])
    lanes = [_split(s, each, threads, cells, each.stages[-1].array) for each in loops]
    bound: list[Loop] = []
    for array, is_written in kept:
        keep = s.cache_write if is_written else s.cache_read
        *_, copy = keep(array, "local", at=rows)
        bound.append(_split(s, copy, threads, cells, array))
    for lane in lanes:
        bound.append(lane)
        for stage in lane.stages:
            bound += _reduced(s, stage.array, lane, rows)
    s.bind(rows, "blockIdx.x")
    for each in bound:
        s.bind(each, "threadIdx.x")


def _used_again(s: Schedule, rows: Loop) -> list[tuple[str, bool]]:
    """Arrays that several loops over a row use, and whether these write them."""
    node = select.loop_node(s.program, rows.identity)
    inner = [each for each in node.body if isinstance(each, ast.For)]
    found: list[tuple[str, bool]] = []
    for array in dict.fromkeys(query.base_name(each) for each in query.accesses(node)):
        users = [each for each in inner if query.accesses(each, array)]
        if array is not None and len(users) > 1:
            found.append((array, any(array in query.written_arrays(each) for each in users)))
    return found


def _split(s: Schedule, loop: Loop, threads: int, cells: int, prefix: str) -> Loop:
    """Deal a loop out to threads; the loop over threads, which is the outer one."""
    names = [s.program.fresh_name(f"{prefix}_{each}") for each in ("turn", "lane")]
    turn, lane = s.split(loop, [cells or None, threads], names=names)
    s.reorder(lane, turn)
    return lane


def _reduced(s: Schedule, array: str, lane: Loop, rows: Loop) -> Sequence[Loop]:
    """Reduce in parts, one in a register of each thread; the loops for threads to run.

    There are none when the stage has a cell for each lane.
    """
    try:
        start, join = s.rfactor(array, lane)
    except ScheduleError as error:
        if error.code == "schedule.no-reduction":
            return ()
        raise
    s.set_scope(start.stages[0].array, "local")
    copy = s.cache_read(start.stages[0].array, "shared", at=rows, stage=join.stages[0])
    return (start, *copy)
