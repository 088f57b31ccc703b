"""Products of matrices: in shared memory and registers of a GPU, and packed for a CPU."""

from __future__ import annotations

from collections.abc import Sequence

from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.printer import print_expression
from astile.schedule import register_tiles, select
from astile.schedule.recipes.cooperation import BLOCKS, THREADS, cooperate, extent, inside
from astile.schedule.recipes.whole import recipe
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop

#: How many neighbours can be loaded or stored at once.
LANES = (2, 4, 8)
#: Words of shared memory that can be accessed at a time, each in a bank of its own.
BANKS = 32
#: Summands of a tile on a CPU that are added up in one iteration of their loop. What counts the
#: iterations takes turns of the units that multiply: with one summand, 6 to 11 % of the time on an
#: Intel Xeon with AVX-512.
_SUMMANDS = 4


@recipe
def tiled_matmul(
    s: Schedule,
    loops: Sequence[Loop | str] = ("i", "j", "k"),
    operands: Sequence[str] = ("A", "B"),
    result: str = "C",
    tile: Sequence[int] = (16, 16),
    depth: int = 16,
    cells: Sequence[int] = (1, 1),
    stages: int = 1,
    lanes: int = 4,
) -> None:
    """A matrix product with a tile of the result for each thread block.

    The tiles of the operands are staged in shared memory step by step. Each thread sums up its
    cells of the result in registers and stores them once. With several cells for each thread they
    are groups of neighbours, apart by a group for each thread, so that threads side by side read
    shared memory side by side; the first operand is staged transposed for that. Where tiles are
    full, steps have no conditions, are written out, and copy several neighbours at once. With two
    stages two steps are written out, so that slots of tiles have numbers.

    Args:
        s: a schedule of ``C[i, j] = 0`` and ``C[i, j] += A[i, k] * B[k, j]``.
        loops: its loops over rows, columns, and what is summed up.
        operands: the arrays to stage.
        result: the array of the sums.
        tile: rows and columns of a tile of the result.
        depth: how much of the sum is staged at a time.
        cells: rows and columns of the result for each thread.
        stages: how many steps are under way at a time: with 2 or more, tiles are filled ahead.
        lanes: how many neighbours a thread copies at once: 4 of float32 are 16 bytes.

    Raises:
        ScheduleError: when the program is none of this form.
    """
    handles = [s.handle(each) for each in loops]
    stops = [_stop(s, each) for each in handles]
    threads = _threads(tile, cells)
    shapes = [_own(count, each, lanes) for each, count in zip(threads, cells, strict=True)]
    outer, inner = _tiles(s, handles, shapes, depth)
    last = _sums_in_registers(s, result, outer, inner[:2], shapes)
    copies = {array: s.cache_read(array, "shared", at=outer[2]) for array in operands}
    if list(cells) == [1, 1]:
        for array, copy in copies.items():
            cooperate(s, copy, threads, array)
        if stages > 1:
            s.pipeline(outer[2], stages)
        return
    _transpose(s, f"{operands[0]}_shared", tile[0], lanes)
    copied = [_copied(s, copy, threads, array, lanes) for array, copy in copies.items()]
    if stages > 1:
        s.pipeline(outer[2], stages)
    else:
        for array in operands:
            s.store_at(f"{array}_shared", outer[1])
    _specialize_full(s, outer, (*tile, depth), stops)
    _written_out(s, outer[2], inner[2], copied)
    if last is not None:
        s.vectorize(last)
    if stages == 2:  # with more, copies run beside the computation where they can
        s.unroll(outer[2], stages)


def _tiles(
    s: Schedule, loops: Sequence[Loop], shapes: Sequence[Sequence[int]], depth: int
) -> tuple[list[Loop], list[Loop]]:
    """Cut the loops over rows, columns and the sum into tiles, and order what comes of them.

    Returns:
        The loops over tiles; and inside a tile those over threads, and the one over the sum.
    """
    axes = [s.split(e, [None, *c]) for e, c in zip(loops, [*shapes, [depth]], strict=True)]
    outer = [each[0] for each in axes]
    *cells, (summed,) = (each[1:] for each in axes)
    threads = [_bound(each) for each in cells]
    own = [loop for axis in cells for loop in axis if loop not in threads]
    s.reorder(*outer, *threads, summed, *own)
    return outer, [*threads, summed]


def _sums_in_registers(
    s: Schedule,
    result: str,
    outer: Sequence[Loop],
    threads: Sequence[Loop],
    shapes: Sequence[Sequence[int]],
) -> Loop | None:
    """Keep the sums of a tile in the registers of its threads, and bind the loops over these.

    Returns:
        The loop over neighbours that are stored together, where there is one.
    """
    stored = s.cache_write(result, "local", at=outer[1])[-2:]
    for loop, axis in zip(outer[:2], BLOCKS, strict=True):
        s.bind(loop, axis)
    axes = dict(zip((each.var for each in threads), THREADS, strict=True))
    for loop in s.loops():
        if loop.var in axes:
            s.bind(loop, axes[loop.var])
    return _bind_stored(s, stored, shapes)


def _written_out(s: Schedule, step: Loop, summed: Loop, copied: Sequence[Loop | None]) -> None:
    """Write out the sum of a full step, and copy neighbours at once in it."""
    names = {each.var for each in copied if each is not None}
    for loop in inside(s, step):
        if loop.var in names:
            s.vectorize(loop)
    s.unroll(summed)


def _threads(tile: Sequence[int], cells: Sequence[int]) -> list[int]:
    """How many threads share each axis of a tile."""
    threads = [each // count for each, count in zip(tile, cells, strict=True)]
    if [each * count for each, count in zip(threads, cells, strict=True)] != list(tile):
        raise ScheduleError(
            f"cells of {tuple(cells)} do not fill a tile of {tuple(tile)}",
            code="schedule.bad-factor",
            hints=["use cells whose sizes divide those of the tile"],
        )
    return threads


def _transpose(s: Schedule, tile: str, rows: int, lanes: int) -> None:
    """Store a tile by columns, each `lanes` banks after the one before."""
    s.transform_layout(tile, lambda i, k: (k, i))
    if rows % BANKS != lanes:
        s.storage_align(tile, 0, BANKS, lanes)


def _own(cells: int, threads: int, lanes: int) -> list[int]:
    """How an axis of a tile is split: groups of a thread, threads, neighbours in a group."""
    width = lanes if lanes > 1 and cells % lanes == 0 else cells
    return [*([cells // width] if cells > width else []), threads, *([width] if width > 1 else [])]


def _bound(axis: Sequence[Loop]) -> Loop:
    """The loop over threads of an axis that is split as `_own` says."""
    return axis[len(axis) > 2]


def _bind_stored(
    s: Schedule, stored: Sequence[Loop], shapes: Sequence[Sequence[int]]
) -> Loop | None:
    """Bind the loops that store a tile as those that compute it; the loop over neighbours."""
    last: Loop | None = None
    for loop, shape, axis in zip(stored, shapes, THREADS, strict=True):
        made = s.split(loop, list(shape)) if len(shape) > 1 else (loop,)
        s.bind(_bound(made) if len(made) > 1 else loop, axis)
        last = made[-1] if shape[-1] in LANES else None
    return last


def _copied(
    s: Schedule, copy: Sequence[Loop], threads: Sequence[int], array: str, lanes: int
) -> Loop | None:
    """Let all threads copy a tile, several neighbours each; the loop over these."""
    *rest, row = copy
    if lanes not in LANES or extent(s, row) % lanes:
        cooperate(s, copy, threads, array)
        return None
    groups, lane = s.split(row, [None, lanes])
    cooperate(s, [*rest, groups], threads, array)
    return lane


def _specialize_full(
    s: Schedule, loops: Sequence[Loop], sizes: Sequence[int], stops: Sequence[str]
) -> None:
    """Give the steps of blocks whose tiles are full a version of their own."""
    *outer, step = loops
    full = [
        f"{loop.var} * {size} + {size} <= {stop}"
        for loop, size, stop in zip(outer, sizes[:2], stops[:2], strict=True)
    ]
    s.specialize(" and ".join([*full, f"{stops[2]} % {sizes[2]} == 0"]), step)


@recipe
def packed_matmul(
    s: Schedule,
    loops: Sequence[Loop | str] = ("i", "j", "k"),
    operands: Sequence[str] = ("A", "B"),
    result: str = "C",
    rows: int = 6,
    columns: int = 64,
) -> None:
    """A matrix product on the CPU, of packed panels, with its sums in vector registers.

    Columns of the result are shared out among the cores. Those of the second operand are packed
    into a panel that stays in a cache. For a few rows at a time all sums of a tile are kept in
    registers while the panel is read once, four rows of it in an iteration; the first operand is
    read where it lies. Rows that fill no tile are computed one by one. The method is that of
    K. Goto and R. van de Geijn, "Anatomy of high-performance matrix multiplication" (2008).

    Args:
        s: a schedule of ``C[i, j] = 0`` and ``C[i, j] += A[i, k] * B[k, j]``.
        loops: its loops over rows, columns, and what is summed up, each from 0.
        operands: the arrays on the left and on the right of the product.
        result: the array of the sums.
        rows: rows of a tile of the result.
        columns: columns of a tile and of a panel, whole vectors. Rows times vectors are at least
            as many as it takes to hide the time of an addition, and fewer than there are
            registers: for float32, 6 x 64 with registers of 512 bits, 6 x 16 with 256 bits; for
            float64 half of the columns.

    Raises:
        ScheduleError: when the program is none of this form.
    """
    nest = [s.handle(each) for each in loops]
    s.parallel(register_tiles.tiled(s, nest, operands[1], result, (rows, columns), steps=_SUMMANDS))


def _stop(s: Schedule, loop: Loop) -> str:
    header = query.header(select.loop_node(s.program, loop.identity))
    assert header is not None
    return print_expression(header.stop)
