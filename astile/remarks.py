"""What an expert would remark about a kernel: what fits, what is far apart, what stands idle."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from astile.analysis.counts.gpu_limits import SHARED_UNASKED, with_most_shared
from astile.analysis.counts.occupancy import H100, WARP
from astile.analysis.counts.per_loop import Footprint
from astile.analysis.forms import affine
from astile.analysis.reading import hardware
from astile.ir import query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.lower.kernels import sharing
from astile.lower.types import dtypes
from astile.report import Buffer, Form, Launch, human, times

#: float32 operations for each byte that an H100 SXM moves: 67 TFLOP/s, 3.35 TB/s (data sheet).
_BALANCE = 20.0
#: A pass counts in "5 passes over large arrays -> 3" from this share of the largest on.
_LARGE = 0.1
#: Bytes that slow memory hands out at a time (CUDA C++ programming guide).
_SECTOR = 32
#: Banks of shared memory, each of 4 bytes (CUDA C++ programming guide).
_BANKS, _BANK = 32, 4
#: Bytes of registers that one thread has (CUDA C++ programming guide: 255 of 4 bytes).
_REGISTERS = 255 * 4
#: Bytes of the first cache of a core, on most processors, and what it is called.
_CACHE = 32 * 1024, "of a core's cache"
#: From this share of threads without work on it is worth a remark.
_IDLE = 0.05


def on(scheduled: Program, before: Form, after: Form, launches: Sequence[Launch]) -> Iterator[str]:
    """All remarks, in the order of a first look.

    Args:
        scheduled: the program after the last step.
        before: the function as it was written.
        after: the scheduled program.
        launches: its CUDA kernels.
    """
    kept = frozenset(query.parameters(scheduled.function)) - scheduled.scratch
    place = (SHARED_UNASKED, "of shared memory") if launches else _CACHE
    yield from _on_intermediates(before, after, kept, place)
    yield _on_traffic(before, after)
    yield from _on_blocks(after)
    yield from _on_operations(before, after)
    yield from _on_launches(launches)
    yield from _on_private_arrays(after, launches)
    yield from _on_single_threads(scheduled, launches)
    yield from _on_warps(scheduled, after, launches)


def _on_intermediates(
    before: Form, after: Form, kept: frozenset[str], place: tuple[int, str]
) -> Iterator[str]:
    """What is written and read again, and read by nobody after the call.

    Args:
        before: the function as it was written.
        after: the scheduled program.
        kept: arrays that somebody reads after the call.
        place: bytes of the memory that is near, and what it is called.
    """
    limit, near = place
    read = {each.array for each in before.moved if each.read}
    moved = (read & {each.array for each in before.moved if each.written}) - kept
    staged = {each.name: each for each in after.buffers}
    for each in before.buffers:
        if each.name not in moved or each.shape is None:
            continue
        fits = "does not fit" if each.size > limit else "fits"
        text = (
            f"{each.name}: {times(each.shape)} {each.dtype} = {human(each.size)}, {fits} "
            f"{human(limit)} {near}"
        )
        tile = next(
            (
                found
                for name in (each.name, f"{each.name}_shared", f"{each.name}_local")
                if (found := staged.get(name)) is not None
                and (found.scope != "global" or found.size < each.size)
            ),
            None,
        )
        if tile is not None and tile.shape is not None:
            still = tile.scope == "global" and tile.size > limit
            neither = ", which does not fit either" if still and each.size > limit else ""
            yield f"{text}; in tiles of {times(tile.shape)}: {human(tile.size)}{neither}"
        elif each.name in staged:
            yield f"{text}; it is still in slow memory: compute_at and set_scope keep it in a tile"


def _on_traffic(before: Form, after: Form) -> str:
    counts = [_large_passes(form) for form in (before, after)]
    passes = (
        f"{counts[0]} {'pass' if counts[0] == 1 else 'passes'} over large arrays -> {counts[1]}"
    )
    return f"slow memory: {human(before.bytes_moved)} -> {human(after.bytes_moved)}, {passes}"


def _large_passes(form: Form) -> int:
    passes = [size for each in form.moved for size in (each.read, each.written)]
    return sum(size > _LARGE * max(passes) for size in passes if size)


def _on_operations(before: Form, after: Form) -> Iterator[str]:
    more = after.operations - before.operations
    if before.operations and more > 0:
        share = 100 * more / before.operations
        why = "rims of tiles computed again, or parts of sums joined"
        yield f"{share:.1f} % more operations: {why}"
    bound = "computing" if after.intensity > _BALANCE else "memory"
    yield (
        f"{after.intensity:.2f} operations for each byte: bound by {bound} on an {H100.name}, "
        f"whose balance is {_BALANCE:g}"
    )


def _on_blocks(after: Form) -> Iterator[str]:
    """What several blocks read, each for itself."""
    once = sum(each.read for each in after.moved)
    every = sum(each.block_read for each in after.moved)
    if every > once:
        most = max(after.moved, key=lambda each: each.block_read - each.read)
        yield (
            f"blocks read {human(every)}, each for itself, which is {every / once:.3g} times as "
            f"much as there is: {most.array} most, {human(most.block_read)} of {human(most.read)}"
        )


def _on_launches(launches: Sequence[Launch]) -> Iterator[str]:
    for each in launches:
        threads = prod(each.block)
        if threads % WARP:
            idle = 100 * (1 - threads / (-(-threads // WARP) * WARP))
            yield f"{threads} threads are no multiple of {WARP}: {idle:.0f} % of lanes are idle"
        every = threads * prod(each.grid)
        if every and each.busy < (1 - _IDLE) * every:
            idle = 100 * (1 - each.busy / every)
            yield f"{idle:.0f} % of {every:,} threads have nothing to do: tiles overrun the arrays"
        if each.shared_bytes > SHARED_UNASKED:
            gpus = with_most_shared(each.shared_bytes)
            given = f"GPUs of compute capability {gpus} give it" if gpus else "no GPU gives it"
            yield (
                f"{human(each.shared_bytes)} of shared memory are more than the "
                f"{human(SHARED_UNASKED)} that every block has; {given}"
            )


def _on_private_arrays(after: Form, launches: Sequence[Launch]) -> Iterator[str]:
    """Tiles that are too large for where they are to be."""
    limit, near = (_REGISTERS, "of the registers of a thread") if launches else _CACHE
    for each in after.buffers:
        if each.scope != "local":
            continue
        own = _cells_of_a_thread(after, each.name) if launches else None
        size = each.size if own is None else own * dtypes.SIZES.get(each.dtype, 8)
        if size > limit:
            shape = times(each.shape or ()) if own is None else f"{own} cells"
            yield f"{each.name}: {shape} = {human(size)}, does not fit {human(limit)} {near}"


def _cells_of_a_thread(after: Form, array: str) -> int | None:
    """How many cells of an array one thread has; None where no loop over threads uses it."""
    found: list[int] = []
    for nest in after.nests:
        around: list[Footprint[int]] = []  # loops over threads that may still have one inside
        for each in (*nest.footprints, nest.footprints[0]):
            while around and around[-1].depth >= each.depth:
                found.append(around.pop().cells.get(array, 0))
            if each.kind.startswith("thread."):
                around = [each]
    return max(found, default=0) or None


def _on_single_threads(program: Program, launches: Sequence[Launch]) -> Iterator[str]:
    """Loops that one thread of a block runs while the others wait."""
    for statement, launch in _kernels(program, launches):
        if prod(launch.block) == 1:
            continue
        alone: dict[str, None] = {}
        for leaf, loops in _leaves(statement, ()):
            ordered = [variable for level, variable in loops if level == "range"]
            if not isinstance(leaf, ast.Assign) or not ordered:
                continue
            if any(level in ("thread", "parallel") for level, _ in loops):
                continue
            arrays = [query.base_name(e) for e in leaf.targets if isinstance(e, ast.Subscript)]
            alone |= {f"{array}, in the loops over {', '.join(ordered)}": None for array in arrays}
        for each in alone:
            yield (
                f"{each}: computed by one thread of each block while the others wait; bind these "
                f"loops to threads too"
            )


def _leaves(
    statement: ast.stmt, around: tuple[tuple[str, str], ...]
) -> Iterator[tuple[ast.stmt, tuple[tuple[str, str], ...]]]:
    """Innermost statements; of the loops around the level, such as ``thread``, and the variable."""
    header = query.header(statement) if isinstance(statement, ast.For) else None
    if header is not None:
        around = (*around, (header.kind.partition(".")[0], header.variable))
    inner = [each for body in query.bodies(statement) for each in body]
    if not inner:
        yield statement, around
    for each in inner:
        yield from _leaves(each, around)


def _kernels(program: Program, launches: Sequence[Launch]) -> Iterator[tuple[ast.stmt, Launch]]:
    """The loops that are launched, with their launches."""
    roots = list(hardware.roots(program.function.body))
    yield from ((roots[each.number], each) for each in launches)


# --- one warp ------------------------------------------------------------------------------------


def _on_warps(program: Program, after: Form, launches: Sequence[Launch]) -> Iterator[str]:
    """Accesses in which the threads of a warp are far apart, or meet in one bank."""
    buffers = {each.name: each for each in after.buffers}
    told: dict[str, tuple[int, str]] = {}
    own = {each.name for each in after.buffers if each.scope != "global"}
    for statement, launch in _kernels(program, launches):
        for access, around in _accesses(statement, _Around({}, None), own):
            buffer = buffers.get(query.base_name(access) or "")
            lanes = None if buffer is None else _lanes(access, around, buffer, launch)
            found = None if lanes is None or buffer is None else _remark(access, buffer, lanes)
            if found is not None and buffer is not None:
                told[buffer.name] = max(found, told.get(buffer.name, found))
    yield from (text for _, text in told.values())  # of each array, what is worst


@dataclass(frozen=True)
class _Around:
    """The loops around an access that a warp runs at once.

    Args:
        threads: variable of a loop over threads -> its axis, and its step.
        wide: variable and extent of a loop over the cells of one access; None without.
        shared: variable, step and extent of each of the loops whose iterations all threads share,
            the one that changes fastest last.
    """

    threads: Mapping[str, tuple[str, int]]
    wide: tuple[str, int] | None
    shared: tuple[tuple[str, int, int | None], ...] = ()


def _accesses(
    statement: ast.stmt, around: _Around, own: Collection[str]
) -> Iterator[tuple[ast.Subscript, _Around]]:
    header = query.header(statement) if isinstance(statement, ast.For) else None
    if header is not None:
        level, _, axis = header.kind.partition(".")
        step, extent = query.integer(header.step) or 1, query.integer(header.stop)
        if level == "thread":
            threads = {**around.threads, header.variable: (axis, step)}
            around = replace(around, threads=threads)
        elif level == "vector" and extent is not None and step == 1:
            around = replace(around, wide=(header.variable, extent))
        elif hardware.is_cooperative(statement) and not around.threads and not around.shared:
            assert isinstance(statement, ast.For)
            band = sharing.fastest_last(hardware.cooperative_band(statement), own)
            around = replace(around, shared=tuple(map(_counted, band)))
    inner = [each for body in query.bodies(statement) for each in body]
    if not inner:
        yield from ((each, around) for each in query.accesses(statement))
    for each in inner:
        yield from _accesses(each, around, own)


def _counted(loop: ast.For) -> tuple[str, int, int | None]:
    header = query.header(loop)
    assert header is not None
    return header.variable, query.integer(header.step) or 1, hardware.trip_count(loop)


def _lanes(
    access: ast.Subscript, around: _Around, buffer: Buffer, launch: Launch
) -> list[list[int]] | None:
    """Where each thread of the first warp has its cells, in bytes; None where it is not known."""
    indices = query.indices(access)
    if buffer.shape is None or len(indices) != len(buffer.shape):
        return None
    if not around.threads and not around.shared:
        return None
    wide, extent = around.wide or ("", 1)
    steps = dict.fromkeys((*around.threads, *(name for name, _, _ in around.shared), wide), 0)
    size = stride = dtypes.SIZES.get(buffer.dtype, 8)
    for index, cells in zip(reversed(indices), reversed(buffer.shape), strict=True):
        if isinstance(index, ast.Slice):
            return None
        form = affine.of(index)
        if any(form.without(name).mentions(name) for name in steps):
            return None
        for name in steps:
            steps[name] += form.coefficient(name) * stride
        stride *= cells
    if around.shared:
        return [[start] for start in _starts_in_turn(around, steps, prod(launch.block))]
    moves = dict.fromkeys("xyz", 0)
    for name, (axis, step) in around.threads.items():
        moves[axis] += steps[name] * step
    if steps[wide] != size:  # its cells are touched one after the other
        extent = 1
    width, height, _ = launch.block
    starts = [
        lane % width * moves["x"]
        + lane // width % height * moves["y"]
        + lane // width // height * moves["z"]
        for lane in range(min(WARP, prod(launch.block)))
    ]
    return [[start + k * size for k in range(extent)] for start in starts]


def _starts_in_turn(around: _Around, steps: Mapping[str, int], threads: int) -> Iterator[int]:
    """Where the threads of the first warp are that take iterations one after the other."""
    counts = [count for _, _, count in around.shared if count is not None]
    cells = prod(counts) if len(counts) == len(around.shared) else threads
    for lane in range(min(WARP, threads, cells)):
        rest, start = lane, 0
        for name, step, count in reversed(around.shared):
            digit = rest if count is None else rest % count
            start += digit * step * steps[name]
            rest = 0 if count is None else rest // count
        yield start


def _remark(
    access: ast.Subscript, buffer: Buffer, lanes: Sequence[Sequence[int]]
) -> tuple[int, str] | None:
    """How bad an access is, and what to say; None where nothing is."""
    text = print_expression(access)
    size = dtypes.SIZES.get(buffer.dtype, 8)
    if buffer.scope == "global":
        cells = {cell for lane in lanes for cell in lane}
        sectors = len({each // _SECTOR for each in cells})
        needed = -(-len(cells) * size // _SECTOR)
        if sectors > 2 * needed:
            return sectors // needed, (
                f"{text}: neighbouring threads touch cells that are far apart in memory, "
                f"{sectors} sectors of {_SECTOR} bytes for a warp in place of {needed}"
            )
    elif buffer.scope == "shared":
        served = lanes[: max(1, _BANKS * _BANK // max(size * len(lanes[0]), _BANK))]  # at once
        words = {cell // _BANK for lane in served for cell in lane}
        meeting = max(sum(word % _BANKS == bank for word in words) for bank in range(_BANKS))
        if meeting > 1:
            return meeting, (
                f"{text}: {meeting} threads of a warp meet in one bank of shared memory; "
                f"storage_align parts the rows of {buffer.name}"
            )
    return None
