"""What a kernel moves, keeps and computes, before and after its schedule, for given sizes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from astile.analysis import affine, hardware, isl
from astile.analysis.accesses import NotModelled
from astile.analysis.occupancy import H100, SHARED_DEFAULT, WARP, occupancy
from astile.analysis.traffic import Measured, measure
from astile.errors import ArgumentError, SourceError
from astile.ir import query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.lower import dtypes
from astile.report import Buffer, Form, Launch, Moved, Report, human, times
from astile.runtime.uses import uses

#: float32 operations for each byte that an H100 SXM moves: 67 TFLOP/s, 3.35 TB/s (data sheet).
_BALANCE = 20.0
#: An array counts in "5 arrays -> 3" from this share of the largest on.
_LARGE = 0.1


@dataclass(frozen=True)
class Sizes:
    """What counts depend on.

    Args:
        shapes: array argument -> its shape.
        integers: integer argument -> its value.
        types: array argument -> name of its dtype.
    """

    shapes: Mapping[str, tuple[int, ...]]
    integers: Mapping[str, int]
    types: Mapping[str, str]


def sizes_of(program: Program, given: Mapping[str, object]) -> Sizes:
    """Sizes out of arrays, shapes and integers.

    Args:
        program: the function as it was written.
        given: parameter -> array, shape as a tuple (of float32 then), or number.

    Raises:
        ArgumentError: when a size is missing, or what was given is no size.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    integers: dict[str, int] = {}
    types: dict[str, str] = {}
    for use in uses(program):
        value = given.get(use.name)
        shape = getattr(value, "shape", value)
        if use.role == "array":
            if not isinstance(shape, tuple) or not all(isinstance(e, int) for e in shape):
                raise ArgumentError(
                    f"explain needs the shape of {use.name}",
                    code="argument.no-shape",
                    span=use.span,
                    hints=(f"pass an array, or its shape: explain({use.name}=(224, 224))",),
                )
            if use.rank is not None and len(shape) != use.rank:
                raise ArgumentError(
                    f"{use.name} has {use.rank} axes, and the shape given has {len(shape)}",
                    code="argument.bad-shape",
                    hints=["give as many extents as the array has axes"],
                    span=use.span,
                )
            shapes[use.name] = shape
            types[use.name] = str(getattr(value, "dtype", "float32"))
        elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            integers[use.name] = int(value)
        elif use.role == "integer":
            raise ArgumentError(
                f"explain needs the value of {use.name}",
                code="argument.no-value",
                span=use.span,
                hints=(f"pass an integer: explain({use.name}=100)",),
            )
    return Sizes(shapes, integers, types)


def explain(original: Program, scheduled: Program, sizes: Sizes) -> Report:
    """Compare a function and its scheduled program.

    Args:
        original: the function as it was written.
        scheduled: the program after the last step.
        sizes: what the counts are for.

    Raises:
        SourceError: for Python whose accesses cannot be counted.
    """
    found = [_measured(each, sizes) for each in (original, scheduled)]
    before, after = (
        _form(program, measured, sizes)
        for program, measured in zip((original, scheduled), found, strict=True)
    )
    launches = tuple(_launches(scheduled, after))
    notes = [
        *_on_intermediates(before, after),
        _on_traffic(before, after),
        *_on_operations(before, after),
        *_on_launches(launches),
        *_on_coalescing(scheduled, after),
    ]
    upper = sorted(frozenset().union(*(each.estimated for each in found)))
    if upper:
        notes.append(f"upper limits, since not all of their cells are known: {', '.join(upper)}")
    if not all(nest.is_exact for form in (before, after) for nest in form.nests):
        notes.append("operations that depend on data count once, whether they run or not")
    return Report(original.name, sizes.shapes, before, after, launches, tuple(notes))


def _measured(program: Program, sizes: Sizes) -> Measured:
    try:
        return measure(program, sizes.shapes, sizes.integers)
    except NotModelled as error:
        raise SourceError(
            f"what this touches cannot be counted: {error.reason}",
            code="source.not-counted",
            hints=["write it as loops over cells"],
            span=program.source.span(error.node),
        ) from error
    except isl.Error as error:
        raise SourceError(
            "what this touches cannot be counted: the sizes of its arrays are not known",
            code="source.not-counted",
            hints=["give arrays extents made of arguments: `np.empty((H, W))`"],
            span=program.source.span(program.function),
            notes=(str(error),),
        ) from error


# --- forms ---------------------------------------------------------------------------------------


def _form(program: Program, measured: Measured, sizes: Sizes) -> Form:
    types = sizes.types
    buffers = [_buffer(name, types[name], "global", shape) for name, shape in sizes.shapes.items()]
    for each in query.statements(program.function):
        made = query.allocation(each)
        if made is not None and all(made.array != known.name for known in buffers):
            dtype = dtypes.name_of(program, made.dtype, types)
            buffers.append(_buffer(made.array, dtype, made.scope, measured.made.get(made.array)))
    slow = {e.name: _cell(e.dtype) for e in buffers if e.scope == "global"}
    moved = [
        Moved(number, name, nest.read.get(name, 0) * size, nest.written.get(name, 0) * size)
        for number, nest in enumerate(measured.nests)
        for name, size in slow.items()
        if name in nest.read or name in nest.written
    ]
    total = sum(each.operations for each in measured.nests)
    return Form(tuple(buffers), tuple(moved), total, measured.nests)


def _cell(dtype: str) -> int:
    return dtypes.SIZES.get(dtype, 8)


def _buffer(name: str, dtype: str | None, scope: str, shape: Sequence[int] | None) -> Buffer:
    known = (dtype or "?").removesuffix("_")
    size = 0 if shape is None else prod(shape) * _cell(known)
    return Buffer(name, known, scope, None if shape is None else tuple(shape), size)


def _launches(program: Program, form: Form) -> Iterator[Launch]:
    shared = {each.name: each.size for each in form.buffers if each.scope == "shared"}
    for nest in form.nests:
        grid: dict[str, int] = {}
        block: dict[str, int] = {}
        for each in nest.footprints:
            level, _, axis = each.kind.partition(".")
            if level == "block":
                grid[axis] = max(each.trips, grid.get(axis, 0))
            elif level == "thread":
                block[axis] = max(each.trips, block.get(axis, 0))
        if not grid and not block:
            continue
        size = sum(shared[name] for name in nest.cells if name in shared)
        shape = _along(block)
        yield Launch(_along(grid), shape, size, occupancy(prod(shape), size))


def _along(axes: Mapping[str, int]) -> tuple[int, int, int]:
    return axes.get("x", 1), axes.get("y", 1), axes.get("z", 1)


# --- notes ---------------------------------------------------------------------------------------


def _on_intermediates(before: Form, after: Form) -> Iterator[str]:
    moved = {each.array for each in before.moved if each.read} & {
        each.array for each in before.moved if each.written
    }
    staged = {each.name: each for each in after.buffers}
    for each in before.buffers:
        if each.name not in moved or each.shape is None:
            continue
        fits = "does not fit" if each.size > SHARED_DEFAULT else "fits"
        text = (
            f"{each.name}: {times(each.shape)} {each.dtype} = {human(each.size)}, {fits} "
            f"{human(SHARED_DEFAULT)} of shared memory"
        )
        tile = next(
            (
                found
                for name in (each.name, f"{each.name}_shared", f"{each.name}_local")
                if (found := staged.get(name)) is not None and found.scope != "global"
            ),
            None,
        )
        if tile is not None and tile.shape is not None:
            yield f"{text}; in tiles of {times(tile.shape)}: {human(tile.size)}"
        elif each.name in staged:
            yield f"{text}; it is still in slow memory: compute_at and set_scope keep it in a tile"


def _on_traffic(before: Form, after: Form) -> str:
    counts = [_large_passes(form) for form in (before, after)]
    arrays = f"{counts[0]} arrays -> {counts[1]}"
    return f"slow memory: {human(before.bytes_moved)} -> {human(after.bytes_moved)}, {arrays}"


def _large_passes(form: Form) -> int:
    passes = [size for each in form.moved for size in (each.read, each.written)]
    return sum(size > _LARGE * max(passes) for size in passes if size)


def _on_operations(before: Form, after: Form) -> Iterator[str]:
    more = after.operations - before.operations
    if before.operations and more > 0:
        share = 100 * more / before.operations
        yield f"{share:.1f} % more operations: values of the rim of tiles are computed again"
    bound = "computing" if after.intensity > _BALANCE else "memory"
    yield (
        f"{after.intensity:.2f} operations for each byte: bound by {bound} on an {H100.name}, "
        f"whose balance is {_BALANCE:g}"
    )


def _on_launches(launches: Sequence[Launch]) -> Iterator[str]:
    for each in launches:
        threads = prod(each.block)
        if threads % WARP:
            idle = 100 * (1 - threads / (-(-threads // WARP) * WARP))
            yield f"{threads} threads are no multiple of {WARP}: {idle:.0f} % of lanes are idle"
        if each.shared_bytes > SHARED_DEFAULT:
            yield (
                f"{human(each.shared_bytes)} of shared memory are more than the "
                f"{human(SHARED_DEFAULT)} that every block has"
            )


def _on_coalescing(program: Program, form: Form) -> Iterator[str]:
    """Accesses of slow memory in which neighbouring threads touch cells that are far apart."""
    slow = {each.name for each in form.buffers if each.scope == "global"}
    told: set[str] = set()
    for loop in query.loops(program.function):
        header = query.header(loop)
        if header is None or hardware.kind(loop) != "thread.x":
            continue
        for access in query.accesses(loop):
            name = query.base_name(access)
            text = print_expression(access)
            if name not in slow or text in told or not _is_apart(access, header.variable):
                continue
            told.add(text)
            yield f"{text}: neighbouring threads touch cells that are far apart in memory"


def _is_apart(access: ast.Subscript, variable: str) -> bool:
    *outer, last = query.indices(access)
    if isinstance(last, ast.Slice):
        return False
    if any(variable in query.names(each) for each in outer):
        return True
    term = affine.of(last).terms.get(variable)
    return term is not None and abs(term[0]) > 1
