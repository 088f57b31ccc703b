"""Products of matrices: in shared memory and registers of a GPU, and packed for a CPU."""

from __future__ import annotations

from collections.abc import Sequence

from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.printer import print_expression
from astile.schedule import select
from astile.schedule.recipes.cooperation import BLOCKS, THREADS, cooperate
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop


def tiled_matmul(
    s: Schedule,
    loops: Sequence[Loop | str] = ("i", "j", "k"),
    operands: Sequence[str] = ("A", "B"),
    result: str = "C",
    tile: Sequence[int] = (16, 16),
    depth: int = 16,
    cells: Sequence[int] = (1, 1),
    stages: int = 1,
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
        stages: how many steps are under way at a time: with 2 or more, tiles are filled ahead.

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
            hints=["use cells whose sizes divide those of the tile"],
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
    for loop, axis in zip((i_0, j_0), BLOCKS, strict=True):
        s.bind(loop, axis)
    if in_registers:
        stored = tuple(s.split(e, [None, n])[0] for e, n in zip(stored, cells, strict=True))
    for loop, axis in zip(stored, THREADS, strict=True):
        s.bind(loop, axis)
    for loop in s.loops():
        if loop.var in (i_1.var, j_1.var):
            s.bind(loop, THREADS[loop.var == j_1.var])
    for array, copy in staged:
        cooperate(s, copy, threads, array)
    if stages > 1:
        s.pipeline(k_0, stages)


def packed_matmul(
    s: Schedule,
    loops: Sequence[Loop | str] = ("i", "j", "k"),
    operands: Sequence[str] = ("A", "B"),
    result: str = "C",
    rows: int = 4,
    panel: Sequence[int] = (256, 256),
    depth: int = 4,
) -> None:
    """A matrix product on the CPU, of packed panels, with vectors along the columns.

    A panel of the second operand is packed into memory that stays in a cache. For a few rows at a
    time, in parallel, what is read of the first operand and the sums lie side by side; the inner
    loops update the sums of all these rows with several products at once. Where these loops are
    full they have no conditions. The method is that of K. Goto and R. van de Geijn, "Anatomy of
    high-performance matrix multiplication" (2008).

    Args:
        s: a schedule of ``C[i, j] = 0`` and ``C[i, j] += A[i, k] * B[k, j]``.
        loops: its loops over rows, columns, and what is summed up, each from 0.
        operands: the arrays on the left and on the right of the product.
        result: the array of the sums.
        rows: rows of the result that are computed together.
        panel: how much of the sum, and how many columns, a panel holds.
        depth: products that are added together; divides the first extent of a panel.

    Raises:
        ScheduleError: when the program is none of this form, or the depth does not divide.
    """
    if depth < 1 or panel[0] % depth:
        raise ScheduleError(
            f"panels of {panel[0]} are not made of parts of {depth}",
            code="schedule.bad-factor",
            hints=["use a depth that divides the panel's"],
        )
    handles = [Loop(s, select.find_loop(s.program, each)) for each in loops]
    stops = [_stop(s, each) for each in handles]
    i, j, k = handles
    i_0, i_1 = s.split(i, [None, rows])
    j_0, j_1 = s.split(j, [None, panel[1]])
    k_0, k_1, k_2 = s.split(k, [None, panel[0] // depth, depth])
    s.reorder(j_0, k_0, i_0, k_1, j_1, i_1, k_2)
    s.cache_read(operands[1], "local", at=k_0)
    s.cache_read(operands[0], "local", at=i_0)
    s.cache_write(result, "local", at=i_0)
    s.parallel(i_0)
    s.vectorize(j_1)
    s.unroll(i_1)
    s.unroll(k_2)
    sizes = (rows, panel[1], panel[0])
    full = [
        f"{each.var} * {size} + {size} <= {stop}"
        for each, size, stop in zip((i_0, j_0, k_0), sizes, stops, strict=True)
    ]
    s.specialize(" and ".join(full), k_1)


def _stop(s: Schedule, loop: Loop) -> str:
    header = query.header(select.loop_node(s.program, loop.identity))
    assert header is not None
    return print_expression(header.stop)
