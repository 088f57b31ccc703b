"""Arguments for a kernel that is tried out: random arrays of the shapes given, or of small ones."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from astile.analysis.extents import bounds
from astile.analysis.extents.conditions import Condition
from astile.diagnostics import listed
from astile.errors import ArgumentError
from astile.ir import query
from astile.ir.program import Program
from astile.lower.parameters.assumed import known_dtype
from astile.lower.parameters.uses import uses

#: Extents to choose from, the largest first: odd, and no multiple of a tile.
_EXTENTS = (37, 17, 9, 5, 3)
#: How many iterations of the deepest loops of plain Python are few enough to wait for.
_ITERATIONS = 1_000_000
#: How often sizes are enlarged until every access stays inside.
_TRIES = 20


@dataclass(frozen=True)
class Wanted:
    """What is asked of sample arguments; all else is chosen.

    Args:
        shapes: array parameter -> its shape.
        values: parameter -> number.
        dtypes: array parameter -> name of its dtype; float32 where none is given.
        extent: of an axis, and value of an integer, that nobody gave; None: the deeper the loops,
            the smaller.
        seed: of the random numbers.
    """

    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    values: Mapping[str, object] = field(default_factory=dict)
    dtypes: Mapping[str, str] = field(default_factory=dict)
    extent: int | None = None
    seed: int = 0


def sample_arguments(
    program: Program, parameters: Mapping[str, inspect.Parameter], wanted: Wanted
) -> dict[str, object]:
    """An argument for every parameter without a default: arrays hold random numbers.

    Arrays that nobody sized are as large as the accesses of them need.

    Args:
        program: the function as it was written.
        parameters: its parameters.
        wanted: what is given.

    Raises:
        ArgumentError: for a parameter that is no array and no integer and has no value.
    """
    every = uses(program)
    extent = _extent_for(program) if wanted.extent is None else wanted.extent
    sizes = {
        each.name: wanted.shapes.get(each.name, (extent,) * (each.rank or 1))
        for each in every
        if each.role == "array" or each.name in wanted.shapes
    }
    integers = {each.name: extent for each in every if each.role == "integer"}
    integers |= {name: value for name, value in wanted.values.items() if type(value) is int}
    _enlarge(bounds.conditions(program), sizes, integers, set(wanted.shapes))
    random = np.random.default_rng(wanted.seed)
    made: dict[str, object] = {}
    unknown: list[str] = []
    for name, parameter in parameters.items():
        if name in wanted.values:
            made[name] = wanted.values[name]
        elif name in sizes:
            made[name] = _array(random, sizes[name], wanted.dtypes.get(name, "float32"))
        elif parameter.default is not parameter.empty:
            continue
        elif name in integers:
            made[name] = integers[name]
        else:
            unknown.append(name)
    if unknown:
        raise _asked(unknown)
    return made


def _asked(names: Sequence[str]) -> ArgumentError:
    """The error that asks for what all these parameters are."""
    verb, it, values = (
        ("need", "they are", "values") if names[1:] else ("needs", "it is", "a value")
    )
    return ArgumentError(
        f"{listed(names)} {verb} {values}: nothing in the program tells what {it}",
        code="argument.no-value",
        hints=(
            f"on the command line: --value {' '.join(f'{each}=1' for each in names)}, or --shape "
            f"{' '.join(f'{each}=100' for each in names)} for arrays",
        ),
    )


def _enlarge(
    conditions: Sequence[Condition],
    sizes: dict[str, tuple[int, ...]],
    integers: Mapping[str, int],
    fixed: Collection[str],
) -> None:
    """Make arrays that nobody sized as large as the accesses of them reach, in place.

    What is still outside after that, or has too few axes, is said by the call itself.
    """
    free = [
        each
        for each in conditions
        if each.array in sizes and each.array not in fixed and _has_sizes(each, sizes)
    ]
    for _ in range(_TRIES):
        changed = False
        for each in free:
            if each.holds(sizes, integers):
                continue
            values = [integers[n] if axis is None else sizes[n][axis] for n, axis in each.lookups]
            extents = list(sizes[each.array])
            extents[each.axis] = max(each.highest(values) + 1, -each.lowest(values))
            sizes[each.array] = tuple(extents)
            changed = True
        if not changed:
            return


def _extent_for(program: Program) -> int:
    """The largest extent with which plain Python runs the deepest loops of the program soon."""
    few = (each for each in _EXTENTS if _iterations(program.function, each) <= _ITERATIONS)
    return next(few, _EXTENTS[-1])


def _iterations(root: ast.AST, extent: int) -> int:
    """How often a statement in the deepest loops below runs, where unknown trips are `extent`."""
    inside = [_iterations(each, extent) for body in query.bodies(root) for each in body]
    most = max(inside, default=1)
    if not isinstance(root, ast.For):
        return most
    header = query.header(root)
    stop = None if header is None else query.integer(header.stop)
    return most * (extent if stop is None else max(stop, 1))


def _has_sizes(condition: Condition, sizes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether the shapes have the axes that the condition asks for."""
    return all(axis is None or axis < len(sizes[name]) for name, axis in condition.lookups)


def _array(random: np.random.Generator, shape: tuple[int, ...], named: str) -> np.ndarray:
    dtype = known_dtype(named)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        return random.integers(0, 8, shape).astype(dtype)
    if dtype.kind == "c":
        return (random.random(shape) + 1j * random.random(shape)).astype(dtype)
    return random.random(shape).astype(dtype)
