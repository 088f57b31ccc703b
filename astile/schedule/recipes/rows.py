"""Reductions of rows by the threads of a block: softmax, layer normalisation, norms."""

from __future__ import annotations

from collections.abc import Sequence

from astile.errors import ScheduleError
from astile.schedule import select
from astile.schedule.recipes.cooperation import allocated, directly_inside
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop

#: How many partial results one thread joins.
_FAN = 16


def row_reduction(s: Schedule, row: Loop | str, threads: int = 256) -> Loop:
    """A thread block for each row, whose threads share all loops over the row.

    Neighbouring threads take neighbouring cells. A sum, product, minimum or maximum of the row is
    reduced into one part for each thread, the parts are joined by fewer threads, 16 parts each,
    and what is left by one; parts lie in shared memory. A thread that has no cell of the row holds
    what changes nothing.

    Args:
        s: the schedule.
        row: the loop over rows; in its body are loops over the cells of a row, one after another.
        threads: threads of a block.

    Returns:
        The loop over rows.

    Raises:
        ScheduleError: when there is no such loop, and as `rfactor` and `bind`.
    """
    rows = Loop(s, select.find_loop(s.program, row))
    for loop in directly_inside(s, [rows]):
        turn, lane = _split(s, loop, [None, threads], loop.stages[-1].array, ("turn", "lane"))
        s.reorder(lane, turn)
        lanes = [lane]
        for stage in lane.stages:
            lanes += _reduced(s, stage.array, lane, threads)
        for each in lanes:
            s.bind(each, "threadIdx.x")
    s.bind(rows, "blockIdx.x")
    return rows


def _reduced(s: Schedule, array: str, lane: Loop, count: int) -> list[Loop]:
    """Reduce in parts, one for each lane, and join them; the loops for threads to run.

    There are none when the stage has a cell for each lane.
    """
    before = allocated(s)
    try:
        start, join = s.rfactor(array, lane)
    except ScheduleError as error:
        if error.code == "schedule.no-reduction":
            return []
        raise
    [parts] = allocated(s) - before
    s.set_scope(parts, "shared")
    if count <= _FAN:
        return [start]
    fewer = -(-count // _FAN)
    own, other = _split(s, join, [None, fewer], array, ("part", "join"))
    s.reorder(other, own)
    return [start, other, *_reduced(s, array, other, fewer)]


def _split(
    s: Schedule, loop: Loop, factors: Sequence[int | None], prefix: str, names: Sequence[str]
) -> tuple[Loop, ...]:
    fresh = [s.program.fresh_name(f"{prefix}_{each}") for each in names]
    return s.split(loop, factors, names=fresh)
