"""`GeneralReport`: what a kernel moves, keeps and computes as formulas over its sizes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from astile.analysis import isl
from astile.analysis.counts.formulas import Formula, total
from astile.analysis.counts.general import Cells, General, Span, general
from astile.analysis.counts.occupancy import Occupancy, occupancy
from astile.analysis.counts.per_loop import Footprint, along, kernels
from astile.analysis.counts.traffic import estimated
from astile.analysis.forms.params import extent_name, readable
from astile.analysis.reading import hardware
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.instances import Model
from astile.analysis.reading.model import extract
from astile.display import Bundle, bundle
from astile.errors import SourceError
from astile.ir import query
from astile.ir.program import Program
from astile.lower.types import dtypes
from astile.tables import table_text

#: Stands where there is no short formula.
_UNKNOWN = "?"
#: What arrays hold whose type nobody told, as in `explain` for shapes.
_ASSUMED = "float32"
#: Of so many counts without a formula the names are told.
_SUBJECTS = 4

_Moved = dict[str, Formula | None]


@dataclass(frozen=True)
class GeneralBuffer:
    """An array that the program makes.

    Args:
        name: of the array.
        dtype: of its cells; ``"?"`` where it is not known, and 8 bytes are taken.
        scope: ``"global"``, ``"shared"`` or ``"local"``.
        shape: formulas of its extents.
        size: formula of its bytes.
    """

    name: str
    dtype: str
    scope: str
    shape: tuple[str, ...]
    size: str


@dataclass(frozen=True)
class GeneralLaunch:
    """One CUDA kernel.

    Args:
        grid: formulas of the blocks along x, y, z.
        block: formulas of the threads along x, y, z; numbers, for a kernel that can be launched.
        shared_bytes: formula of the bytes of one block.
        occupancy: of one multiprocessor, registers left out of account; None where threads or bytes
            of a block are no numbers.
    """

    grid: tuple[str, str, str]
    block: tuple[str, str, str]
    shared_bytes: str
    occupancy: Occupancy | None


@dataclass(frozen=True)
class GeneralForm:
    """The program before the schedule, or after it; formulas are Python text, ``"?"`` for none.

    Args:
        buffers: arrays that it makes.
        moved: array in slow memory and ``"read"`` or ``"written"`` -> bytes.
        moved_by_blocks: the same, what several blocks touch counted for each of them; empty
            without blocks.
        bytes_moved: in all.
        bytes_of_blocks: in all, for each block.
        operations: on values.
        footprints: for each nest what it touches as a whole, and in one iteration of each loop.
    """

    buffers: tuple[GeneralBuffer, ...]
    moved: Mapping[str, str]
    moved_by_blocks: Mapping[str, str]
    bytes_moved: str
    bytes_of_blocks: str
    operations: str
    footprints: tuple[tuple[Footprint[str], ...], ...]


@dataclass(frozen=True)
class GeneralReport:
    """What `kernel.explain` finds without sizes; `str(report)` is a table.

    Args:
        kernel: its name.
        sizes: name in formulas -> what it is.
        least: the sizes from which on the formulas hold.
        before: the function as it was written.
        after: the scheduled program.
        launches: its CUDA kernels, where loops are bound.
        notes: what to know of the formulas, and why there are none.
    """

    kernel: str
    sizes: Mapping[str, str]
    least: int
    before: GeneralForm
    after: GeneralForm
    launches: tuple[GeneralLaunch, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """All formulas as types that JSON knows."""
        return asdict(self)

    def _repr_mimebundle_(self, **_: Any) -> Bundle:
        return bundle(f"{self.kernel}: what the schedule changes", str(self), "text")

    def __str__(self) -> str:
        return "\n\n".join(part for part in _parts(self) if part)


def explain_in_general(original: Program, scheduled: Program) -> GeneralReport:
    """Compare a function and its scheduled program for all sizes.

    Args:
        original: the function as it was written.
        scheduled: the program after the last step.

    Raises:
        SourceError: for Python whose accesses cannot be counted.
    """
    own = _names_of_sizes(original)
    found = [(each, *_counted(each, own)) for each in (original, scheduled)]
    before, after = (_form(program, model, each) for program, model, each in found)
    models = [model for _, model, _ in found]
    least = max(each.least for _, _, each in found)
    sizes = {p: readable(p, model.names) for model in models for p in model.parameters}
    given = {own[each]: told for each, told in sizes.items() if each in own}
    notes = [f"for sizes of at least {least}; array arguments hold {_ASSUMED}"]
    notes += _reasons([each for _, _, each in found])
    upper = sorted(frozenset().union(*map(estimated, models)))
    if upper:
        notes.append(f"upper limits, since not all of their cells are known: {', '.join(upper)}")
    launches = tuple(_launches(found[-1][-1], after))
    return GeneralReport(original.name, given, least, before, after, launches, tuple(notes))


def _reasons(found: Sequence[General]) -> Iterator[str]:
    """Why there is no formula, and of what."""
    of: dict[str, dict[str, None]] = {}
    for each in found:
        for reason, subjects in each.reasons.items():
            of.setdefault(reason, {}).update(dict.fromkeys(subjects))
    for reason, every in of.items():
        shown = list(every)[:_SUBJECTS]
        more = [f"{len(every) - len(shown)} more"] if len(every) > len(shown) else []
        yield f"{_UNKNOWN}: {reason}: {', '.join([*shown, *more])}"


def _launches(found: General, after: GeneralForm) -> Iterator[GeneralLaunch]:
    sizes = {each.name: each.size for each in after.buffers if each.scope == "shared"}
    for kernel in (each for nest in found.spans for each in kernels(nest)):
        used = [sizes[name] for name in kernel[0].cells if name in sizes]
        size = sum(map(int, used)) if all(map(str.isdigit, used)) else None
        block = along(kernel, "thread")
        extents = [_largest(each) for each in block.values()]
        threads = prod(each or 0 for each in extents)
        yield GeneralLaunch(
            _shape(along(kernel, "block")),
            _shape(block),
            _UNKNOWN if size is None else str(size),
            None if None in extents or size is None else occupancy(threads, size),
        )


def _shape(extents: Mapping[str, Sequence[Formula | None]]) -> tuple[str, str, str]:
    x, y, z = (_largest_text(extents.get(axis, ())) for axis in hardware.AXES)
    return x, y, z


def _largest_text(extents: Sequence[Formula | None]) -> str:
    """The largest of some extents."""
    largest = _largest(extents)
    texts = dict.fromkeys(map(_text, extents)) if largest is None else [str(largest)]
    return next(iter(texts)) if len(texts) == 1 else f"max({', '.join(texts)})"


def _largest(extents: Sequence[Formula | None]) -> int | None:
    known = [each.value for each in extents if each is not None and each.value is not None]
    return max(known, default=1) if len(known) == len(extents) else None


def _counted(program: Program, own: Mapping[str, str]) -> tuple[Model, General]:
    try:
        model = extract(program)
        names = {each: own.get(each, readable(each, model.names)) for each in model.parameters}
        return model, general(model, names)
    except (NotModelled, isl.Error) as error:
        raise SourceError(
            f"what this touches cannot be counted: {getattr(error, 'reason', error)}",
            code="source.not-counted",
            hints=["write it as loops over cells"],
            span=program.source.span(getattr(error, "node", program.function)),
        ) from error


def _names_of_sizes(program: Program) -> dict[str, str]:
    """Parameter of isl -> what the function calls the extent, as in ``H, W = x.shape``."""
    found: dict[str, str] = {}
    stored = [
        each.id
        for each in query.preorder(program.function)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    ]
    for statement in program.function.body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        for target, array, axis in _extents(statement.targets[0], statement.value):
            if stored.count(target) == 1:
                found.setdefault(extent_name(array, axis), target)
    return found


def _extents(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, str, int]]:
    """Name, array and axis of each extent that an assignment names."""
    match target, value:
        case ast.Tuple(elts=names), ast.Attribute(value=ast.Name(id=array), attr="shape"):
            for axis, each in enumerate(names):
                if isinstance(each, ast.Name):
                    yield each.id, array, axis
        case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
            for each, part in zip(names, values, strict=True):
                yield from _extents(each, part)
        case ast.Name(id=name), ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=array)]):
            yield name, array, 0
        case ast.Name(id=name), ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=array), attr="shape"), slice=index
        ):
            number = query.integer(index)
            if number is not None and number >= 0:
                yield name, array, number


# --- forms ---------------------------------------------------------------------------------------


def _form(program: Program, model: Model, found: General) -> GeneralForm:
    types = dict.fromkeys(model.names.array_arguments, _ASSUMED)
    buffers: dict[str, GeneralBuffer] = {}
    for each in query.statements(program.function):
        made = query.allocation(each)
        if made is not None and made.array not in buffers:
            dtype = (dtypes.name_of(program, made.dtype, types) or _UNKNOWN).removesuffix("_")
            shape = found.made.get(made.array) or (None,)
            buffers[made.array] = _buffer(made.array, dtype, made.scope, shape)
    slow = dict.fromkeys(model.names.array_arguments, dtypes.SIZES[_ASSUMED])
    slow |= {
        each.name: dtypes.SIZES.get(each.dtype, 8)
        for each in buffers.values()
        if each.scope == "global"
    }
    order = [*model.names.array_arguments, *buffers]
    once = _moved(slow, [(each.read, each.written) for each in found.nests])
    by_blocks = {}
    if any(each.block_read is not None for each in found.nests):
        by_blocks = _moved(
            slow,
            [
                (each.block_read or each.read, each.block_written or each.written)
                for each in found.nests
            ],
        )
    return GeneralForm(
        tuple(buffers.values()),
        {name: _text(each) for name, each in once.items()},
        {name: _text(each) for name, each in by_blocks.items()},
        _all(once),
        _all(by_blocks) if by_blocks else "",
        _text(found.operations),
        tuple(
            tuple(_footprint(each, order) for each in nest) for nest in found.spans if nest[0].cells
        ),
    )


def _buffer(name: str, dtype: str, scope: str, shape: Sequence[Formula | None]) -> GeneralBuffer:
    size: Formula | None = Formula.number(dtypes.SIZES.get(dtype, 8))
    for extent in shape:
        size = None if size is None or extent is None else size.times(extent)
    return GeneralBuffer(name, dtype, scope, tuple(map(_text, shape)), _text(size))


def _moved(slow: Mapping[str, int], nests: Sequence[tuple[Cells, Cells]]) -> _Moved:
    """Bytes of slow memory by array and direction, over all nests."""
    sums: _Moved = {}
    for name, size in slow.items():
        for kind, word in enumerate(("read", "written")):
            parts = [nest[kind][name] for nest in nests if name in nest[kind]]
            known = [each.times(size) for each in parts if each is not None]
            if parts:
                sums[f"{name} {word}"] = total(known) if len(known) == len(parts) else None
    return sums


def _all(moved: _Moved) -> str:
    known = [each for each in moved.values() if each is not None]
    return _text(total(known) if len(known) == len(moved) else None)


def _text(formula: Formula | None) -> str:
    return _UNKNOWN if formula is None else str(formula)


def _footprint(span: Span, order: Sequence[str]) -> Footprint[str]:
    cells = {name: _text(span.cells[name]) for name in order if name in span.cells}
    trips, extent = (_text(each) if span.loop else "" for each in (span.trips, span.extent))
    return Footprint(span.loop, span.kind, span.depth, trips, extent, cells)


# --- text ----------------------------------------------------------------------------------------


def _parts(report: GeneralReport) -> Iterator[str]:
    sizes = ", ".join(f"{name} = {told}" for name, told in report.sizes.items())
    yield f"{report.kernel} for {sizes}" if sizes else report.kernel
    forms = report.before, report.after
    rows = [
        (each.name, each.dtype, word, _placed(each))
        for word, form in zip(("before", "after"), forms, strict=True)
        for each in form.buffers
        if word == "before" or each not in report.before.buffers
    ]
    if rows:
        yield table_text(("buffer", "dtype", "", "shape"), rows)
    blocks = report.after.moved_by_blocks
    headings = ("bytes of slow memory", "before", "after", *(("by blocks",) if blocks else ()))
    yield table_text(headings, list(_traffic(report)))
    for number, nest in enumerate(report.after.footprints):
        head = f"nest {number + 1}: " if len(report.after.footprints) > 1 else ""
        arrays = list(nest[0].cells)
        lines = [("  " * e.depth + _loop(e), *(e.cells.get(n, "-") for n in arrays)) for e in nest]
        yield table_text((f"{head}cells of one iteration", *arrays), lines)
    for each in report.launches:
        grid, block = (f"({', '.join(shape)})" for shape in (each.grid, each.block))
        share = "" if each.occupancy is None else f"; {each.occupancy} (registers left out)"
        yield f"launch: grid {grid}, block {block}, {each.shared_bytes} bytes shared{share}"
    yield "\n".join(f"- {note}" for note in report.notes)


def _placed(buffer: GeneralBuffer) -> str:
    where = "slow" if buffer.scope == "global" else buffer.scope  # as with sizes
    return f"({', '.join(buffer.shape)}), {buffer.size} bytes, {where}"


def _loop(row: Footprint[str]) -> str:
    return f"for {row.loop} in {row.kind}, {row.trips} trips" if row.loop else "all of it"


def _traffic(report: GeneralReport) -> Iterator[Sequence[str]]:
    before, after = report.before, report.after
    names = dict.fromkeys((*before.moved, *after.moved))
    for name in names:
        blocks = [after.moved_by_blocks.get(name, "0")] if after.moved_by_blocks else []
        yield name, before.moved.get(name, "0"), after.moved.get(name, "0"), *blocks
    blocks = [after.bytes_of_blocks] if after.moved_by_blocks else []
    yield "in all", before.bytes_moved, after.bytes_moved, *blocks
    yield "operations", before.operations, after.operations, *([after.operations] if blocks else [])
