"""Arguments of a launch become what device code sees; arrays that overlap share their cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from astile.runtime.emulator.arrays import EmulatedArray
from astile.runtime.emulator.clock import Clock
from astile.runtime.emulator.errors import EmulationError
from astile.runtime.emulator.fresh import FreshMemory
from astile.runtime.emulator.kinds import EXTENT, FLOAT64, INT64, ArrayOf, TupleOf, Type, of_value
from astile.runtime.emulator.memory import Memory
from astile.runtime.emulator.scalars import from_host


def type_of(value: Any) -> Type:
    """Type of an argument, as numba types it: all Python integers alike, but for their signs."""
    if isinstance(value, np.ndarray):
        return ArrayOf(value.ndim, value.dtype)
    if isinstance(value, tuple):
        return TupleOf(tuple(map(type_of, value)))
    if type(value) is int:
        return EXTENT if 0 <= value < 2**EXTENT.bits else INT64
    return FLOAT64 if type(value) is float else of_value(value)


@dataclass(frozen=True)
class _Extent:
    """Where an array lies in memory: bytes from `low` up to `high`."""

    name: str
    array: NDArray[Any]
    low: int
    high: int


def to_device(
    names: Sequence[str], values: Sequence[Any], clock: Clock, fresh: Sequence[FreshMemory]
) -> tuple[tuple[Any, ...], dict[str, Memory]]:
    """The arguments of a launch for device code.

    Args:
        names: of the parameters.
        values: as the host gives them.
        clock: who runs now.
        fresh: allocations whose cells may hold no value.

    Returns:
        The arguments, and the global memory behind each array, in the order of the parameters.

    Raises:
        EmulationError: an array that device code cannot have.
    """
    extents = list(_extents(zip(names, values, strict=True)))
    emulated: dict[int, EmulatedArray] = {}
    memories: dict[str, Memory] = {}
    for group, locked in _of_one_type(_overlapping(extents)):
        memory = _memory(group, clock, fresh, locked)
        low, size = min(each.low for each in group), memory.dtype.itemsize
        for each in group:
            offset = (_address(each.array) - low) // size if each.array.size else 0
            strides = tuple(stride // size for stride in each.array.strides)
            made = EmulatedArray(memory, each.name, each.array.shape, strides, offset)
            memory.roots.append(made.root)
            memories[each.name] = memory
            emulated.setdefault(id(each.array), made)
    ordered = {each.name: memories[each.name] for each in extents}
    return tuple(_replaced(value, emulated) for value in values), ordered


def _replaced(value: Any, emulated: dict[int, EmulatedArray]) -> Any:
    if isinstance(value, np.ndarray):
        return emulated[id(value)]
    if isinstance(value, tuple):
        return tuple(_replaced(each, emulated) for each in value)
    return from_host(value)


def _extents(arguments: Any) -> Iterator[_Extent]:
    for name, value in arguments:
        if isinstance(value, tuple):
            yield from _extents((f"{name}[{place}]", each) for place, each in enumerate(value))
        elif isinstance(value, np.ndarray):
            if value.dtype.kind not in "biufc" or not value.dtype.isnative:
                raise EmulationError(f"{name} has elements of type {value.dtype}")
            low = high = _address(value)
            if value.size:
                spans = [
                    (extent - 1) * stride
                    for extent, stride in zip(value.shape, value.strides, strict=True)
                ]
                low += sum(span for span in spans if span < 0)
                high += sum(span for span in spans if span > 0) + value.itemsize
            yield _Extent(name, value, low, high)


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _overlapping(extents: list[_Extent]) -> Iterator[list[_Extent]]:
    """Groups of arrays such that arrays of different groups share no memory."""
    group: list[_Extent] = []
    end = -1
    for each in sorted(extents, key=lambda extent: (extent.low, extent.high)):
        if group and (each.low >= end or each.low == each.high):
            yield group
            group = []
        group.append(each)
        end = max(end, each.high) if len(group) > 1 else each.high
    if group:
        yield group


def _of_one_type(
    groups: Iterator[list[_Extent]],
) -> Iterator[tuple[list[_Extent], str | None]]:
    """Groups of arrays of one type, and why they may not be written.

    A cell has one type: arrays of several types on the same bytes have cells of their own each,
    and a write to one of them would not be seen as an access of the others.
    """
    for group in groups:
        types = list(dict.fromkeys(each.array.dtype for each in group))
        names = " and ".join(each.name for each in group)
        shared = f"may not be written: {names} lie in one piece of memory with different elements"
        is_writable = all(each.array.flags.writeable for each in group)
        locked = None if is_writable else "is a read-only array"
        for dtype in types:
            same = [each for each in group if each.array.dtype == dtype]
            yield same, shared if len(types) > 1 else locked


def _memory(
    group: list[_Extent], clock: Clock, fresh: Sequence[FreshMemory], locked: str | None
) -> Memory:
    first = group[0]
    dtype = first.array.dtype
    for each in group:
        steps = [*each.array.strides, each.low - first.low]
        if any(step % dtype.itemsize for step in steps):
            raise EmulationError(
                f"{first.name} and {each.name} lie in one piece of memory with different elements"
            )
    size = (max(each.high for each in group) - first.low) // dtype.itemsize
    if size == 0:
        return Memory("global", 0, dtype, clock)
    towards: tuple[Any, ...] = tuple(
        slice(None, None, -1 if stride < 0 else 1) for stride in first.array.strides
    )
    lowest = first.array.view(np.ndarray)[(..., *towards)]
    flat = as_strided(lowest, (size,), (dtype.itemsize,))
    masks = (each.mask(first.low, size, dtype) for each in fresh if each.alive)
    return Memory(
        "global",
        size,
        dtype,
        clock,
        flat=flat,
        written=next((mask for mask in masks if mask is not None), None),
        locked=locked,
    )
