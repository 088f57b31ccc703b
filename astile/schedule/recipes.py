"""Recipes for GPUs, made only of primitives: each is an ordinary function of a `Schedule`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from astile.errors import ScheduleError
from astile.ir import query
from astile.schedule import select
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop

_BLOCKS = ("blockIdx.y", "blockIdx.x")
_THREADS = ("threadIdx.y", "threadIdx.x")


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
    cells = prod(_extent(s, each) for each in copy)
    if len(copy) == 2:
        turns = prod(-(-_extent(s, e) // count) for e, count in zip(copy, threads, strict=True))
        if turns <= -(-cells // (rows * columns)):  # no thread would be idle that need not be
            return _spread(s, copy, threads, _THREADS)
    whole = copy[0] if len(copy) == 1 else s.fuse(*copy)[0]
    names = [s.program.fresh_name(f"{prefix}_{each}") for each in ("turn", "y", "x")]
    bound = s.split(whole, [None, rows, columns], names=names)[1:]
    for loop, axis in zip(bound, _THREADS, strict=True):
        s.bind(loop, axis)
    return bound


def _extent(s: Schedule, loop: Loop) -> int:
    header = query.header(select.loop_node(s.program, loop.identity))
    extent = None if header is None else query.integer(header.stop)
    if extent is None:
        raise ScheduleError(
            f"the loop over {loop.var} has no literal length", code="schedule.not-literal"
        )
    return extent


def tiled_matmul(
    s: Schedule,
    loops: Sequence[Loop | str] = ("i", "j", "k"),
    operands: Sequence[str] = ("A", "B"),
    result: str = "C",
    tile: Sequence[int] = (16, 16),
    depth: int = 16,
    cells: Sequence[int] = (1, 1),
) -> None:
    """A matrix product with a tile of the result for each thread block.

    The tiles of the operands are staged in shared memory step by step. Each thread sums up its
    cells of the result in registers and stores them once; with several cells for each thread,
    what it reads of the operands is kept in registers too.

    Args:
        s: a schedule of ``C[i, j] = 0`` and ``C[i, j] += A[i, k] * B[k, j]``.
        loops: its loops over rows, columns, and what is summed up.
        operands: the arrays to stage.
        result: the array of the sums.
        tile: rows and columns of a tile of the result.
        depth: how much of the sum is staged at a time.
        cells: rows and columns of the result for each thread.

    Raises:
        ScheduleError: when the program is none of this form.
    """
    rows, columns, summed = (Loop(s, select.find_loop(s.program, each)) for each in loops)
    threads = [each // count for each, count in zip(tile, cells, strict=True)]
    in_registers = list(cells) != [1, 1]
    if [each * count for each, count in zip(threads, cells, strict=True)] != list(tile):
        raise ScheduleError(
            f"cells of {tuple(cells)} do not fill a tile of {tuple(tile)}",
            code="schedule.bad-factor",
        )
    inner = [[count, cell][: 1 + in_registers] for count, cell in zip(threads, cells, strict=True)]
    i_0, i_1, *i_2 = s.split(rows, [None, *inner[0]])
    j_0, j_1, *j_2 = s.split(columns, [None, *inner[1]])
    k_0, k_1 = s.split(summed, [None, depth])
    s.reorder(i_0, j_0, k_0, i_1, j_1, k_1, *i_2, *j_2)
    stored = s.cache_write(result, "local", at=j_0)[-2:]
    staged = [(array, s.cache_read(array, "shared", at=k_0)) for array in operands]
    if in_registers:
        for array in operands:
            s.cache_read(f"{array}_shared", "local", at=k_1)
    for loop, axis in zip((i_0, j_0), _BLOCKS, strict=True):
        s.bind(loop, axis)
    if in_registers:
        stored = tuple(s.split(e, [None, n])[0] for e, n in zip(stored, cells, strict=True))
    for loop, axis in zip(stored, _THREADS, strict=True):
        s.bind(loop, axis)
    for loop in s.loops():
        if loop.var in (i_1.var, j_1.var):
            s.bind(loop, _THREADS[loop.var == j_1.var])
    for array, copy in staged:
        cooperate(s, copy, threads, array)


def stencil_chain(s: Schedule, result: str, tile: Sequence[int] = (16, 16)) -> tuple[Loop, ...]:
    """A chain of stencils with a tile of the result for each thread block.

    All stages before the last one are computed for one tile at a time, halo included, and their
    values stay in shared memory. The threads of a block go over a tile with halo several times.

    Args:
        s: the schedule.
        result: the last stage.
        tile: sizes of the tile along its outermost loops: one thread for each cell.

    Returns:
        The loops over tiles.

    Raises:
        ScheduleError: when a stage before is read elsewhere, or its region in a tile is not
            known.
    """
    made = s.tile(s.loops(result)[: len(tile)], tile)
    outer, inner = made[: len(tile)], made[len(tile) :]
    blocks, threads = _BLOCKS[-len(tile) :], _THREADS[-len(tile) :]
    staged = []
    for stage in reversed(s.stages()):
        if stage.array in _allocated(s):
            s.compute_at(stage, outer[-1])
            s.set_scope(stage.array, "shared")
            staged.append(f"{stage.array}_shared")
    for loop, axis in zip((*outer, *inner), (*blocks, *threads), strict=True):
        s.bind(loop, axis)
    for array in staged:
        own = [each for each in s.loops(array) if each not in outer][: len(tile)]
        _spread(s, own, tile, threads)
    return outer


def _allocated(s: Schedule) -> set[str]:
    made = [query.allocation(each) for each in query.statements(s.program.function)]
    return {each.array for each in made if each is not None and each.scope == "global"}


def _spread(
    s: Schedule, loops: Sequence[Loop], counts: Sequence[int], axes: Sequence[str]
) -> tuple[Loop, ...]:
    """Bind loops to threads; a loop that is longer than there are threads runs in turns."""
    now: list[Loop] = []
    turns: list[Loop] = []
    bound: list[Loop] = []
    for loop, count in zip(loops, counts, strict=True):
        made: tuple[Loop, ...] = (loop,)
        if _extent(s, loop) > count:
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
