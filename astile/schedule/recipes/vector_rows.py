"""Rows on a CPU: reductions in vectors, and the loops after them."""

from __future__ import annotations

from astile.errors import ScheduleError
from astile.ir import query
from astile.schedule import select
from astile.schedule.attempts import attempt
from astile.schedule.recipes.cooperation import allocated, directly_inside
from astile.schedule.recipes.whole import recipe
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop

#: Vectors that are under way at a time.
_AT_A_TIME = 4


@recipe
def vector_rows(s: Schedule, row: Loop | str, lanes: int = 64, block: int = 16) -> Loop:
    """Rows on the cores of a CPU, the loops over the cells of a row in vectors.

    A sum, product, minimum or maximum of a row is reduced in parts, one for each lane, and the
    parts are joined at the end; cells that fill no lanes any more come one by one. Four vectors
    at a time hide the latency of each other. What a row allocates is allocated once for a block of
    rows, which stays in the cache of its core.

    Args:
        s: the schedule.
        row: the loop over rows; in its body are loops over the cells of a row, one after another.
        lanes: parts of a reduction; a few times what a vector holds.
        block: rows that a core takes at a time.

    Returns:
        The loop over blocks.

    Raises:
        ScheduleError: when there is no such loop, lanes are not a multiple of 4, and as `rfactor`
            and `parallel`.
    """
    rows = s.handle(row)
    allocations = _allocated_in(s, rows)
    row_vectors(s, rows, lanes)
    blocks, _ = s.split(rows, [None, block])
    for array in allocations:
        s.store_at(array, blocks)
    s.parallel(blocks)
    return blocks


@recipe
def row_vectors(s: Schedule, row: Loop | str, lanes: int = 64) -> None:
    """The part of `vector_rows` that is done inside a row.

    Args:
        s: the schedule.
        row: the loop over rows.
        lanes: parts of a reduction.

    Raises:
        ScheduleError: as `vector_rows`.
    """
    if lanes < _AT_A_TIME or lanes % _AT_A_TIME:
        raise ScheduleError(
            f"{lanes} lanes are not {_AT_A_TIME} vectors",
            code="schedule.bad-factor",
            hints=(f"take a multiple of {_AT_A_TIME}, such as 64",),
        )
    for loop in directly_inside(s, [s.handle(row)]):
        _vectorized(s, loop, lanes)


def _allocated_in(s: Schedule, loop: Loop) -> list[str]:
    """The arrays that one iteration allocates, in order."""
    body = select.loop_node(s.program, loop.identity).body
    made = [query.allocation(each) for each in body]
    return [each.array for each in made if each is not None and each.scope == "global"]


def _vectorized(s: Schedule, loop: Loop, lanes: int) -> None:
    """Vectors along one loop, which may reduce something or not."""
    if attempt(s.vectorize, loop):
        return  # not a reduction, which vectors take in parts
    names = [s.program.fresh_name(f"{loop.var}_{each}") for each in ("strip", "lane")]
    _, lane = s.split(loop, [None, lanes], names=names, tail="cut")[:2]
    for stage in lane.stages:
        reduced = _reduced(s, stage.array, lane)
        if reduced is not None:
            start, join = reduced
            s.vectorize(start)
            _join(s, stage.array, join, lanes)
    s.vectorize(lane)


def _join(s: Schedule, array: str, join: Loop, lanes: int) -> None:
    """Join parts vector by vector, and the lanes of the last vector one by one, in registers."""
    fewer = lanes // _AT_A_TIME
    names = [s.program.fresh_name(f"{join.var}_{each}") for each in ("vector", "part")]
    vector, part = s.split(join, [_AT_A_TIME, fewer], names=names)
    reduced = _reduced(s, array, part)
    assert reduced is not None
    start, last = reduced
    s.vectorize(start)
    s.unroll(last)
    s.unroll(vector)
    s.vectorize(part)


def _reduced(s: Schedule, array: str, lane: Loop) -> tuple[Loop, Loop] | None:
    """Reduce in parts, one for each lane; None where nothing is reduced.

    The parts lie in local memory; the loops that start and join them are returned.
    """
    before = allocated(s)
    try:
        start, join = s.rfactor(array, lane)
    except ScheduleError as error:
        if error.code == "schedule.no-reduction":
            return None
        raise
    [parts] = allocated(s) - before
    s.set_scope(parts, "local")
    return start, join
