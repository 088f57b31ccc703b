"""Products of matrices on the matrix units of a GPU."""

from __future__ import annotations

from collections.abc import Sequence

from astile.analysis.reading.fragments import UNITS, Unit
from astile.diagnostics import suggestions
from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.printer import print_expression
from astile.schedule import select
from astile.schedule.recipes.cooperation import BLOCKS, THREADS, extent
from astile.schedule.recipes.whole import recipe
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop

#: Rows and columns of the tile of an instruction.
ROWS, COLUMNS = 16, 8
#: Accesses of 16 bytes that all banks of shared memory serve at once.
ROWS_OF_BANKS = 8
#: Axes of the threads of a block: warps, the rows and the pairs of columns of their threads.
AXES = ("threadIdx.z", "threadIdx.y", "threadIdx.x")
WARP = (8, 4)
#: How loops over parts of rows, columns and sums are named, outermost first.
WORDS = (("warp", "tile", "half", "row"), ("warp", "tile", "pair", "cell"), ("step", "part"))
#: Tile of blocks for sizes that fill no tiles of the matrix units.
OTHER_TILE = (8, 32)


@recipe
def tensor_core_matmul(
    s: Schedule,
    loops: Sequence[Loop | str] = ("i", "j", "k"),
    operands: Sequence[str] = ("A", "B"),
    result: str = "C",
    tile: Sequence[int] = (128, 128),
    depth: int = 32,
    warps: Sequence[int] = (2, 4),
    stages: int = 2,
    instruction: str = "mma.m16n8k16.f16",
) -> None:
    """A product of matrices whose tiles the matrix units of a GPU compute.

    Sizes that are whole tiles have a kernel of their own. In it each thread block computes a tile
    of the result, each warp a part of that, with its sums in registers. Tiles of the operands are
    copied to shared memory steps ahead, in rows of 16 bytes that are turned so that neither copies
    nor loads meet in a bank. Other sizes are computed cell by cell, each by a thread of its own.

    Args:
        s: a schedule of ``C[i, j] = 0`` and
            ``C[i, j] += np.float32(A[i, k]) * np.float32(B[k, j])``, for float16, or
            ``C[i, j] += tf32(A[i, k]) * tf32(B[k, j])``, for float32.
        loops: its loops over rows, columns, and what is summed up.
        operands: the arrays on the left and on the right of the product.
        result: the array of the sums, of float32.
        tile: rows and columns of a tile of the result: multiples of 16 and of 8 for each warp.
        depth: how much of the sum is staged at a time, a multiple of what the instruction adds up.
        warps: how many warps share the rows, and the columns, of a tile.
        stages: how many steps are under way at a time, 2 or more.
        instruction: of `tensorize`; ``"mma.m16n8k8.tf32"`` or ``"mma.m16n8k16.bf16"`` for float32.

    Raises:
        ScheduleError: when the program is none of this form, or sizes do not fit each other.
    """
    unit = _unit(instruction)
    digits = _digits(tile, depth, warps, unit)
    handles = [s.handle(each) for each in loops]
    variables = [each.var for each in handles]
    sizes = (*tile, depth)
    bound = _other_sizes(s, handles, sizes)
    pairs = [s.split(e, [None, n], tail="perfect") for e, n in zip(handles, sizes, strict=True)]
    outer, inner = [each[0] for each in pairs], [each[1] for each in pairs]
    s.reorder(*outer, *inner)
    bound += zip(outer[:2], BLOCKS, strict=True)
    stored = s.cache_write(result, "local", at=outer[1])
    sums = f"{result}_local"
    cleared = [each for each in s.loops(f"{sums}#0") if each not in outer]
    _lay_out_sums(s, sums, tile, warps)
    shared = [_share(s, nest, variables, digits) for nest in (inner, cleared, stored)]
    turns = (1, 1 if unit.kind == "float16" else 2)
    turned = zip(operands, turns, strict=True)
    copies = [_copy(s, each, outer[2], warps, unit, turn) for each, turn in turned]
    for made in (*shared, *copies):
        bound += zip(made, AXES, strict=False)
    for loop in (shared[2][-1], *(each[-1] for each in copies)):
        s.vectorize(loop)
    for loop, axis in bound:
        s.bind(loop, axis)
    s.tensorize(shared[0][3], instruction)
    s.pipeline(outer[2], stages)


def _other_sizes(
    s: Schedule, loops: Sequence[Loop], sizes: Sequence[int]
) -> list[tuple[Loop, str]]:
    """Give sizes that are whole tiles a version of their own; in the other one cut small tiles.

    Returns:
        The loops of the other version, each with the axis to which it will be bound.
    """
    stops = [_stop(s, each) for each in loops]
    full = [f"{stop} % {size} == 0" for stop, size in zip(stops, sizes, strict=True)]
    others = s.specialize(" and ".join(full))[:2]
    words = [f"{each.var}_{word}" for word in ("block", "thread") for each in others]
    made = s.tile(others, OTHER_TILE, [s.program.fresh_name(each) for each in words])
    return list(zip(made, (*BLOCKS, *THREADS), strict=True))


def _unit(instruction: str) -> Unit:
    """What an instruction multiplies."""
    if instruction in UNITS:
        return UNITS[instruction]
    raise ScheduleError(
        f"no instruction {instruction!r}",
        code="schedule.bad-intrinsic",
        hints=suggestions(str(instruction), list(UNITS), "instructions"),
    )


def _digits(tile: Sequence[int], depth: int, warps: Sequence[int], unit: Unit) -> list[list[int]]:
    """How the axes of a tile are split: warps, tiles of the instruction, parts of threads."""
    parts = [tile[0] // warps[0], tile[1] // warps[1]]
    fits = parts[0] % ROWS == 0 and parts[1] % COLUMNS == 0 and depth % unit.depth == 0
    whole = [part * count for part, count in zip(parts, warps, strict=True)] == list(tile)
    if not fits or not whole or min(*parts, depth) < 1:
        raise ScheduleError(
            f"a tile of {tuple(tile)} is no {warps[0]} x {warps[1]} warps of tiles of {ROWS} x "
            f"{COLUMNS}, or {depth} no multiple of {unit.depth}",
            code="schedule.bad-factor",
            hints=["write for example tile=(128, 128), depth=32, warps=(2, 4)"],
        )
    rows, pairs = WARP
    return [
        [warps[0], parts[0] // ROWS, ROWS // rows, rows],
        [warps[1], parts[1] // COLUMNS, pairs, COLUMNS // pairs],
        [depth // unit.depth, unit.depth],
    ]


def _lay_out_sums(s: Schedule, sums: str, tile: Sequence[int], warps: Sequence[int]) -> None:
    """Give each thread the cells of its sums along axes of their own."""
    rows, columns = tile[0] // warps[0], tile[1] // warps[1]
    s.transform_layout(
        sums,
        lambda i, j: (
            i // rows * warps[1] + j // columns,
            i % rows // 16,
            i // 8 % 2,
            i % 8,
            j % columns // 8,
            j // 2 % 4,
            j % 2,
        ),
    )


def _share(
    s: Schedule,
    loops: Sequence[Loop],
    variables: Sequence[str],
    digits: Sequence[Sequence[int]],
) -> list[Loop]:
    """Cut loops over a tile for warps and their threads.

    Args:
        s: the schedule.
        loops: over rows, columns, and the sum where there is one.
        variables: how to name what they become.
        digits: how each of them is split.

    Returns:
        The loops over warps, over the rows and over the pairs of columns of their threads, then
        those that each thread runs, tiles first.
    """
    split = []
    for loop, name, words, counts in zip(loops, variables, WORDS, digits, strict=False):
        names = [s.program.fresh_name(f"{name}_{word}") for word in words]
        split.append(s.split(loop, list(counts), names=names))
    (warp_rows, tiles, halves, rows), (warp_columns, other_tiles, pairs, cells), *sums = split
    steps, parts = [each[0] for each in sums], [each[1] for each in sums]
    own = [tiles, other_tiles, halves, cells, *parts]
    s.reorder(warp_rows, warp_columns, rows, pairs, *steps, *own)
    return [*s.fuse(warp_rows, warp_columns), rows, pairs, *own]


def _copy(
    s: Schedule, array: str, step: Loop, warps: Sequence[int], unit: Unit, turned: int
) -> list[Loop]:
    """Stage an operand of a step in shared memory.

    Args:
        s: the schedule.
        array: the operand.
        step: the loop over steps.
        warps: how many share the rows, and the columns, of a tile.
        unit: the instruction.
        turned: by how many groups of neighbours each row is turned against the one before.

    Returns:
        The loops over warps and their threads, and the one over neighbours that a thread copies.
    """
    rows, cells = s.cache_read(array, "shared", at=step)
    names = [s.program.fresh_name(f"{array}_{each}") for each in ("group", "cell")]
    groups, lane = s.split(cells, [None, unit.cells], names=names)
    count = extent(s, groups)
    [whole] = s.fuse(rows, groups)
    names = [s.program.fresh_name(f"{array}_{each}") for each in ("turn", "z", "y", "x")]
    made = s.split(whole, [None, warps[0] * warps[1], *WARP], names=names)
    _turn(s, f"{array}_shared", count, unit.cells, turned)
    return [*made[1:], lane]


def _turn(s: Schedule, tile: str, groups: int, cells: int, turned: int) -> None:
    """Turn each row of a tile by groups of neighbours, against conflicts of banks."""
    rows = max(1, ROWS_OF_BANKS // groups)
    if turned == 1:
        s.transform_layout(tile, lambda i, k: (i, (k // cells + i // rows) % groups, k % cells))
    else:
        s.transform_layout(tile, lambda i, k: (i, (k // cells + i * turned) % groups, k % cells))


def _stop(s: Schedule, loop: Loop) -> str:
    header = query.header(select.loop_node(s.program, loop.identity))
    assert header is not None
    return print_expression(header.stop)
