"""What a kernel moves, keeps and computes, before and after its schedule, for given sizes."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from astile import remarks
from astile.analysis import isl
from astile.analysis.counts.occupancy import occupancy
from astile.analysis.counts.per_loop import along, kernels
from astile.analysis.counts.traffic import Measured, measure
from astile.analysis.reading import hardware
from astile.analysis.reading.accesses import NotModelled
from astile.diagnostics import listed
from astile.errors import ArgumentError, SourceError
from astile.ir import query
from astile.ir.program import Program
from astile.lower.kernels import cooperative
from astile.lower.parameters.uses import Use, uses
from astile.lower.types import dtypes
from astile.report import Buffer, Form, Launch, Moved, Report

#: How parameters are used, what `explain` takes for one, and for several.
_PASSED = (
    ("array", "an array, or its shape", "arrays, or their shapes"),
    ("integer", "an integer", "integers"),
)


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
    every = uses(program)
    missing = [each for each in every if _is_missing(each, given.get(each.name))]
    if missing:
        raise _asked(missing, given)
    shapes: dict[str, tuple[int, ...]] = {}
    integers: dict[str, int] = {}
    types: dict[str, str] = {}
    for use in every:
        value = given.get(use.name)
        if use.role == "array":
            shape = _shape_of(value)
            assert shape is not None  # else it is missing
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
    return Sizes(shapes, integers, types)


def _shape_of(value: object) -> tuple[int, ...] | None:
    """The shape that was given, of an array or by itself; None where it is none."""
    found = getattr(value, "shape", value)
    return found if isinstance(found, tuple) and all(map(_is_extent, found)) else None


def _is_missing(use: Use, value: object) -> bool:
    """Whether what was given for a parameter is not the size that it needs."""
    if use.role == "array":
        return _shape_of(value) is None
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return use.role == "integer" and not is_integer


def _asked(missing: Sequence[Use], given: Mapping[str, object]) -> ArgumentError:
    """The error that asks for all missing sizes at once."""
    wanted: list[str] = []
    passed: list[str] = []
    options: list[str] = []
    for use in missing:
        value, is_array = given.get(use.name), use.role == "array"
        extents = ["224"] * (use.rank or 1)
        not_this = f", not {reprlib.repr(value)}" if value is not None else ""
        wanted.append(f"the {'shape' if is_array else 'value'} of {use.name}{not_this}")
        shape = f"({', '.join(extents)}{',' if len(extents) == 1 else ''})"
        passed.append(f"{use.name}={shape if is_array else 100}")
        option, text = ("shape", ",".join(extents)) if is_array else ("value", "100")
        options.append(f"--{option} {use.name}={text}")
    roles = [use.role for use in missing]
    is_shape = "array" in roles
    words = [
        one if roles.count(role) == 1 else several
        for role, one, several in _PASSED
        if role in roles
    ]
    return ArgumentError(
        f"explain needs {listed(wanted)}",
        code="argument.no-shape" if is_shape else "argument.no-value",
        span=missing[0].span,
        hints=(
            f"pass {', and '.join(words)}: explain({', '.join(passed)})",
            f"on the command line: {' '.join(options)}",
        ),
    )


def _is_extent(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def explain(original: Program, scheduled: Program, sizes: Sizes) -> Report:
    """Compare a function and its scheduled program.

    Args:
        original: the function as it was written.
        scheduled: the program after the last step.
        sizes: what the counts are for.

    Raises:
        SourceError: for Python whose accesses cannot be counted.
    """
    scheduled = cooperative.shared_out(scheduled)
    found = [_measured(each, sizes) for each in (original, scheduled)]
    before, after = (
        _form(program, measured, sizes)
        for program, measured in zip((original, scheduled), found, strict=True)
    )
    launches = tuple(_launches(after))
    notes = list(remarks.on(scheduled, before, after, launches))
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
        Moved(
            number,
            name,
            nest.read.get(name, 0) * size,
            nest.written.get(name, 0) * size,
            nest.block_read.get(name, 0) * size,
            nest.block_written.get(name, 0) * size,
        )
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


def _launches(form: Form) -> Iterator[Launch]:
    shared = {each.name: each.size for each in form.buffers if each.scope == "shared"}
    for nest in form.nests:
        for kernel, (number, busy) in zip(kernels(nest.footprints), nest.busy.items(), strict=True):
            size = sum(shared[name] for name in kernel[0].cells if name in shared)
            grid, block = (_shape(along(kernel, level)) for level in ("block", "thread"))
            yield Launch(number, grid, block, size, occupancy(prod(block), size), busy)


def _shape(extents: Mapping[str, Sequence[int]]) -> tuple[int, int, int]:
    x, y, z = (max(extents.get(axis, [1])) for axis in hardware.AXES)
    return x, y, z
