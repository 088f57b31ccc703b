"""Histograms: each part of the data counts into cells of its own, which are added up then."""

from __future__ import annotations

from collections.abc import Sequence

from astile.errors import ScheduleError
from astile.ir.stages import Stage
from astile.schedule.recipes.cooperation import spread
from astile.schedule.recipes.whole import recipe
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop


@recipe
def histogram(s: Schedule, loop: Loop | str, result: str, parts: int = 8) -> Loop:
    """A histogram for a CPU: a row of cells for each of a few parts of the data.

    The parts run in parallel, each in memory of its own, since cores that write neighbouring cells
    wait for each other. Their rows are then added up in a fixed order, so that a sum of real
    numbers does not depend on chance.

    A kernel keeps the parts on one core where data may pick a cell that is not there: each index
    is checked then. It has not to be where the type of an index shows that it stays inside, as
    that of a byte does for 256 cells, or what is computed: ``x[i] % 64``, ``x[i] >> 2``.

    Args:
        s: the schedule.
        loop: the loop over the data; inside it data pick the cell, ``result[x[i]] += 1``.
        result: the array that is added to, or of which a minimum or maximum is taken.
        parts: how many parts, at least one for each core.

    Returns:
        The loop over parts.

    Raises:
        ScheduleError: as `rfactor`, and `IllegalSchedule` for real numbers under ``exact=True``.
    """
    whole = s.handle(loop)
    part, _ = s.split(whole, [parts, None])
    start, *_ = s.rfactor(_stage(part, result), part)
    rows = start.stages[0].array
    [part] = s.merge(start, part)
    s.cache_write(rows, "local", at=part)
    s.parallel(part)
    return part


@recipe
def block_histogram(
    s: Schedule, loop: Loop | str, result: str, blocks: int = 128, threads: int = 64
) -> Loop:
    """A histogram for a GPU: a row of cells for each thread, in shared memory.

    No two threads meet on a cell, so that no atomic operation is needed, and neighbouring threads
    read neighbouring data. Each block adds up the rows of its threads; a second launch adds up
    those of the blocks.

    Args:
        s: the schedule.
        loop: the loop over the data; inside it data pick the cell, ``result[x[i]] += 1``.
        result: the array; for shared memory its length has to be a literal, as in
            ``np.zeros(64, np.int32)``.
        blocks: thread blocks. Each takes turns that are this many rows of threads apart.
        threads: threads of a block, each with all cells of the result.

    Returns:
        The loop over blocks.

    Raises:
        ScheduleError: as `rfactor` and `set_scope`.
    """
    whole = s.handle(loop)
    names = [s.program.fresh_name(f"{whole.var}_{each}") for each in ("turn", "block", "lane")]
    turn, block, lane = s.split(whole, [None, blocks, threads], names=names)
    s.reorder(block, lane, turn)
    start, zero, part, cell = _loops(s.rfactor(_stage(block, result), block), result)
    rows = zero.stages[0].array
    [block] = s.merge(start, block)
    first, _, each, total = s.rfactor(_stage(lane, rows), lane)
    own = first.stages[0].array
    s.set_scope(own, "shared")
    # the same cell of all threads side by side: each thread has a memory bank of its own
    s.transform_layout(f"{own}_shared", "lambda thread, block, cell: (cell, thread)")
    s.reorder(total, each)
    s.reorder(cell, part)
    s.bind(block, "blockIdx.x")
    s.bind(first, "threadIdx.x")
    s.bind(lane, "threadIdx.x")
    for loop in (zero, total):
        spread(s, [loop], [threads], ["threadIdx.x"])
    names = [s.program.fresh_name(f"{result}_{each}") for each in ("block", "lane")]
    over_blocks, over_threads = s.split(cell, [None, threads], names=names)
    s.bind(over_blocks, "blockIdx.x")
    s.bind(over_threads, "threadIdx.x")
    return block


def _stage(loop: Loop, array: str) -> Stage:
    """The stage that updates an array inside a loop."""
    found = [each for each in loop.stages if each.array == array]
    if len(found) != 1:
        raise ScheduleError(
            f"in the loop over {loop.var} {len(found)} stages write {array!r}",
            code="schedule.no-such-stage",
            hints=["a histogram has one: `counts[x[i]] += 1`"],
        )
    return found[0]


def _loops(made: Sequence[Loop], array: str) -> Sequence[Loop]:
    """The loops that `rfactor` made, which are four where one index of a cell is data."""
    if len(made) != 4:
        raise ScheduleError(
            f"{array} has more axes than the one along which data pick the cell",
            code="schedule.bad-loops",
            hints=["take the primitives one by one: split, rfactor, merge, rfactor, set_scope"],
        )
    return made
