"""Arguments for a kernel that is tried out: random arrays of the shapes given, or of small ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import click
import numpy as np

from astile.analysis import bounds
from astile.kernel import Kernel
from astile.runtime.uses import uses

#: Extent of an axis, and value of an integer, that nobody gave: odd, and no multiple of a tile.
_EXTENT = 37
#: How often sizes are enlarged until every access stays inside.
_TRIES = 20


def arguments_of(
    kernel: Kernel[..., Any],
    shapes: Mapping[str, tuple[int, ...]],
    values: Mapping[str, object],
    dtypes: Mapping[str, str],
    seed: int,
) -> dict[str, object]:
    """An argument for every parameter without a default.

    Args:
        kernel: to be called.
        shapes: array parameter -> its shape.
        values: parameter -> number.
        dtypes: array parameter -> name of its dtype; float32 where none is given.
        seed: of the random numbers.

    Raises:
        click.UsageError: for a name that is no parameter, and where sizes must be given.
    """
    parameters = kernel.__signature__.parameters
    unknown = sorted((set(shapes) | set(values) | set(dtypes)) - set(parameters))
    if unknown:
        raise click.UsageError(f"{kernel.__name__} has no parameter {unknown[0]!r}")
    program = kernel.schedule.original
    every = uses(program)
    sizes = {
        each.name: shapes.get(each.name, (_EXTENT,) * (each.rank or 1))
        for each in every
        if each.role == "array" or each.name in shapes
    }
    integers = {each.name: _EXTENT for each in every if each.role == "integer"}
    integers |= {name: value for name, value in values.items() if type(value) is int}
    _enlarge(bounds.conditions(program), sizes, integers, set(shapes))
    random = np.random.default_rng(seed)
    made: dict[str, object] = {}
    for name, parameter in parameters.items():
        if name in values:
            made[name] = values[name]
        elif name in sizes:
            made[name] = _array(random, sizes[name], dtypes.get(name, "float32"))
        elif parameter.default is not parameter.empty:
            continue
        elif name in integers:
            made[name] = integers[name]
        else:
            raise click.UsageError(f"give {name} by --shape {name}=... or --value {name}=...")
    return made


def _enlarge(
    conditions: Sequence[bounds.Condition],
    sizes: dict[str, tuple[int, ...]],
    integers: Mapping[str, int],
    fixed: Collection[str],
) -> None:
    """Make arrays that nobody sized as large as the accesses of them reach, in place.

    What is still outside after that is said by the call itself.
    """
    for _ in range(_TRIES):
        changed = False
        for each in conditions:
            if each.array in fixed or each.array not in sizes or each.holds(sizes, integers):
                continue
            values = [integers[n] if axis is None else sizes[n][axis] for n, axis in each.lookups]
            extents = list(sizes[each.array])
            extents[each.axis] = max(each.highest(values) + 1, -each.lowest(values))
            sizes[each.array] = tuple(extents)
            changed = True
        if not changed:
            return


def _array(random: np.random.Generator, shape: tuple[int, ...], named: str) -> np.ndarray:
    try:
        dtype = np.dtype(named)
    except TypeError as error:
        raise click.UsageError(f"NumPy has no dtype {named!r}") from error
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        return random.integers(0, 8, shape).astype(dtype)
    if dtype.kind == "c":
        return (random.random(shape) + 1j * random.random(shape)).astype(dtype)
    return random.random(shape).astype(dtype)
