"""`Report`: what a kernel moves, keeps and computes for given sizes, as data and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from astile.analysis.counts.occupancy import Occupancy
from astile.analysis.counts.per_loop import Footprint
from astile.analysis.counts.traffic import Nest
from astile.display import Bundle, bundle
from astile.tables import table_text


@dataclass(frozen=True)
class Buffer:
    """One array.

    Args:
        name: of the array.
        dtype: of its cells; ``"?"`` where it is not known, and 8 bytes are taken.
        scope: ``"global"``, ``"shared"`` or ``"local"``.
        shape: of the array, or of one tile; None where the sizes do not tell.
        size: in bytes.
    """

    name: str
    dtype: str
    scope: str
    shape: tuple[int, ...] | None
    size: int


@dataclass(frozen=True)
class Moved:
    """Bytes between slow memory and one nest.

    Args:
        nest: its number.
        array: what moves.
        read: each cell once.
        written: each cell once.
        block_read: each cell once for every thread block that reads it; as `read` without blocks.
        block_written: the same of what is written.
    """

    nest: int
    array: str
    read: int
    written: int
    block_read: int
    block_written: int


@dataclass(frozen=True)
class Form:
    """The program before the schedule, or after it.

    Args:
        buffers: all arrays.
        moved: what each nest moves of each array in slow memory.
        operations: on values.
        nests: the counts behind it, in cells.
    """

    buffers: tuple[Buffer, ...]
    moved: tuple[Moved, ...]
    operations: int
    nests: tuple[Nest, ...]

    @property
    def bytes_moved(self) -> int:
        """Bytes to and from slow memory."""
        return sum(each.read + each.written for each in self.moved)

    @property
    def bytes_of_blocks(self) -> int:
        """The same, with what several blocks touch counted for each of them."""
        return sum(each.block_read + each.block_written for each in self.moved)

    @property
    def intensity(self) -> float:
        """Operations for each byte moved."""
        return self.operations / self.bytes_moved if self.bytes_moved else float("inf")


@dataclass(frozen=True)
class Launch:
    """One CUDA kernel.

    Args:
        number: among the kernels of the program, in the order of the text, from 0.
        grid: blocks along x, y, z.
        block: threads along x, y, z.
        shared_bytes: of one block.
        occupancy: of one multiprocessor, registers left out of account.
        busy: how many of all its threads run the statement that most of them run.
    """

    number: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    occupancy: Occupancy
    busy: int


@dataclass(frozen=True)
class Report:
    """What `kernel.explain` found; `str(report)` is a table.

    Args:
        kernel: its name.
        shapes: array argument -> its shape.
        before: the function as it was written.
        after: the scheduled program.
        launches: its CUDA kernels, where loops are bound.
        notes: what an expert would remark.
    """

    kernel: str
    shapes: Mapping[str, tuple[int, ...]]
    before: Form
    after: Form
    launches: tuple[Launch, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """All numbers as types that JSON knows."""
        return asdict(self)

    def _repr_mimebundle_(self, **_: Any) -> Bundle:
        return bundle(f"{self.kernel}: what the schedule changes", str(self), "text")

    def __str__(self) -> str:
        return "\n\n".join(part for part in _parts(self) if part)


# --- text ----------------------------------------------------------------------------------------


def _parts(report: Report) -> Iterator[str]:
    sizes = ", ".join(f"{name} {times(shape)}" for name, shape in report.shapes.items())
    yield f"{report.kernel} for {sizes}"
    yield table_text(("buffer", "dtype", "before", "after"), list(_buffer_rows(report)))
    rows = list(_traffic_rows(report))
    headings = ("slow memory", "before", "after", *(("by blocks",) if report.launches else ()))
    yield table_text(headings, rows, "<" + ">" * (len(headings) - 1))
    for number, nest in enumerate(report.after.nests):
        arrays = [each.name for each in report.after.buffers if each.name in nest.cells]
        head = f"nest {number + 1}: " if len(report.after.nests) > 1 else ""
        yield _footprint_text(f"{head}cells of one iteration", arrays, nest.footprints)
    for each in report.launches:
        yield (
            f"launch: grid {times(each.grid)}, block {times(each.block)}, "
            f"{human(each.shared_bytes)} shared; {each.occupancy} (registers left out)"
        )
    yield "\n".join(f"- {note}" for note in report.notes)


def _buffer_rows(report: Report) -> Iterator[tuple[str, str, str, str]]:
    before = {each.name: each for each in report.before.buffers}
    after = {each.name: each for each in report.after.buffers}
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        known = one or other
        assert known is not None
        yield name, known.dtype, _placed(one), "same" if one == other else _placed(other)


def _placed(buffer: Buffer | None) -> str:
    if buffer is None:
        return "-"
    shape = "of unknown size" if buffer.shape is None else times(buffer.shape)
    where = "slow" if buffer.scope == "global" else buffer.scope
    return f"{shape}, {human(buffer.size)}, {where}"


def _traffic_rows(report: Report) -> Iterator[tuple[str, ...]]:
    forms = (report.before, report.after)
    has_blocks = bool(report.launches)
    for name in dict.fromkeys(each.array for form in forms for each in form.moved):
        for word in ("read", "written"):
            sizes = [
                sum(getattr(each, word) for each in form.moved if each.array == name)
                for form in forms
            ]
            if not any(sizes):
                continue
            if has_blocks:
                own = (e for e in report.after.moved if e.array == name)
                sizes.append(sum(getattr(each, f"block_{word}") for each in own))
            yield (f"{name} {word}", *map(human, sizes))
    moved = [form.bytes_moved for form in forms]
    operations = [form.operations for form in forms]
    if has_blocks:
        moved.append(report.after.bytes_of_blocks)
        operations.append(report.after.operations)
    yield ("in all", *map(human, moved))
    yield ("operations", *(f"{each:,}" for each in operations))
    ratios = (o / m if m else float("inf") for o, m in zip(operations, moved, strict=True))
    yield ("operations a byte", *(f"{each:.2f}" for each in ratios))


def _footprint_text(head: str, arrays: Sequence[str], footprints: Sequence[Footprint[int]]) -> str:
    rows = []
    for each in footprints:
        loop = f"for {each.loop} in {each.kind}, {each.trips} trips" if each.loop else "all of it"
        cells = [f"{each.cells[name]:,}" if name in each.cells else "-" for name in arrays]
        rows.append(("  " * each.depth + loop, *cells))
    return table_text((head, *arrays), rows, "<" + ">" * len(arrays))


def times(shape: Sequence[int]) -> str:
    """``224 x 224`` for a shape.

    Args:
        shape: extents; ones at the end of three are left out.
    """
    kept = list(shape)
    while len(kept) > 1 and kept[-1] == 1 and len(shape) == 3:
        kept.pop()
    return " x ".join(map(str, kept)) if shape else "one cell"


def human(size: int) -> str:
    """A number of bytes with its unit.

    Args:
        size: in bytes.
    """
    value, unit = float(size), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.4g} {unit}"
