"""Stencils: chains in shared memory, and sweeps that are tiled in time as well."""

from __future__ import annotations

from collections.abc import Sequence

from astile.errors import ScheduleError
from astile.schedule.recipes.cooperation import (
    BLOCKS,
    THREADS,
    allocated,
    cooperate,
    directly_inside,
    extent,
    spread,
)
from astile.schedule.recipes.whole import recipe
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop

#: Banks of shared memory; neighbouring words of 4 bytes lie in neighbouring banks.
_BANKS = 32


@recipe
def stencil_chain(
    s: Schedule, result: str, tile: Sequence[int] = (16, 16), inputs: Sequence[str] = ()
) -> tuple[Loop, ...]:
    """A chain of stencils with a tile of the result for each thread block.

    All stages before the last one are computed for one tile at a time, halo included, and their
    values stay in shared memory. The threads of a block go over a tile with halo several times.

    Args:
        s: the schedule.
        result: the last stage.
        tile: sizes of the tile along its outermost loops: one thread for each cell.
        inputs: arguments whose part for a tile, halo included, is copied into shared memory
            first, so that each of its cells is read from slow memory once for each tile.

    Returns:
        The loops over tiles.

    Raises:
        ScheduleError: when a stage before is read elsewhere, or its region in a tile is not
            known.
    """
    made = s.tile(s.loops(result)[: len(tile)], tile)
    outer, inner = made[: len(tile)], made[len(tile) :]
    blocks, threads = BLOCKS[-len(tile) :], THREADS[-len(tile) :]
    staged = []
    for stage in reversed(s.stages()):
        if stage.array in allocated(s):
            s.compute_at(stage, outer[-1])
            s.set_scope(stage.array, "shared")
            staged.append(f"{stage.array}_shared")
    copies = {array: s.cache_read(array, "shared", at=outer[-1]) for array in inputs}
    for array, copy in copies.items():
        if len(copy) == 2 and tile[-1] < min(extent(s, copy[-1]), _BANKS):
            # the rows that a warp reads together lie in different memory banks
            s.storage_align(f"{array}_shared", 0, _BANKS, tile[-1])
    for loop, axis in zip((*outer, *inner), (*blocks, *threads), strict=True):
        s.bind(loop, axis)
    for array, copy in copies.items():
        cooperate(s, copy, (*(1,) * (2 - len(tile)), *tile), array)
    for array in staged:
        own = [each for each in s.loops(array) if each not in outer][: len(tile)]
        spread(s, own, tile, threads)
    return outer


@recipe
def time_tiled(
    s: Schedule, time: Loop | str, tile: Sequence[int], reach: int = 1
) -> tuple[Loop, ...]:
    """Sweeps over a grid, tiled in time and space.

    The sweeps of one time step run together, each behind the one before by what it reads ahead,
    and a tile moves back in each step by what a step reads ahead. A tile then computes several
    steps while its cells are in fast memory. The source is M. Wolfe, "More iteration space
    tiling" (1989).

    Args:
        s: the schedule.
        time: the loop over time steps, with the nests of the sweeps in its body.
        tile: how many steps, and how many cells along each axis.
        reach: how many cells away a sweep reads.

    Returns:
        The loops over tiles, then those inside a tile.

    Raises:
        ScheduleError: when the nests are none of this form.
    """
    step = s.handle(time)
    axes, sweeps = _merged_sweeps(s, step, len(tile) - 1, reach)
    for each in axes:
        s.skew(step, each, sweeps * reach)
    made = s.tile([step, *axes], tile)
    _, *inner = made[len(tile) :]
    for each in inner:
        s.skew(made[len(tile)], each, -sweeps * reach)  # for shorter indices
    return made


@recipe
def time_fronts(
    s: Schedule, time: Loop | str, tile: Sequence[int], reach: int = 1
) -> tuple[Loop, ...]:
    """Sweeps over a grid, tiled in time and along the rows, for the cores of a CPU.

    As in `time_tiled` a tile computes several steps, each behind the one before. Inside of it a
    step follows the one before at once, row by row, so that what it reads is in the cache of its
    core. Tiles of later steps start as soon as those of earlier ones are far enough ahead: the
    tiles on one front, a slanted line through steps and rows, run on several cores.

    Args:
        s: the schedule.
        time: the loop over time steps, with the nests of the sweeps in its body.
        tile: how many steps, and how many rows.
        reach: how many rows away a sweep reads.

    Returns:
        The loops over fronts, over the tiles of one, and over rows and steps inside a tile.

    Raises:
        ScheduleError: when the nests are none of this form.
    """
    step = s.handle(time)
    (rows,), sweeps = _merged_sweeps(s, step, 1, reach)
    s.skew(step, rows, sweeps * reach)
    late, front, step, rows = s.tile([step, rows], tile)
    s.reorder(rows, step)
    s.skew(late, front, 1)
    s.reorder(front, late)
    s.parallel(late)
    return front, late, rows, step


def _merged_sweeps(s: Schedule, step: Loop, axes: int, reach: int) -> tuple[list[Loop], int]:
    """One loop for each axis, in which the sweeps of a time step follow each other.

    Returns:
        The loops, and how many sweeps a time step has.

    Raises:
        ScheduleError: when the nests are none of this form.
    """
    nests = [directly_inside(s, [step])]
    for _ in range(axes - 1):
        nests.append(directly_inside(s, nests[-1]))
    sweeps = len(nests[0])
    if any(len(each) != sweeps for each in nests) or not sweeps:
        raise ScheduleError(
            f"in the loop over {step.var} there are no sweeps over {axes} axes",
            code="schedule.not-nested",
            hints=["name the loop over time, and a size for each axis"],
        )
    for position in range(1, sweeps):
        for axis in nests:
            s.shift(axis[position], position * reach)
    merged = []
    for first, *others in nests:
        for each in others:
            [first] = s.merge(first, each)
        merged.append(first)
    return merged, sweeps
