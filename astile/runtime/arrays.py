"""Arrays as they are handed over: where they lie in memory, and which of them meet there."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

#: Effort spent on deciding exactly whether two strided views meet; beyond it they count as meeting.
_OVERLAP_WORK = 10_000
#: A written array whose axes interleave is looked at cell by cell up to this many cells.
_SELF_OVERLAP_CELLS = 1 << 20


@dataclass(frozen=True)
class ArrayFacts:
    """One array argument, on the host or on a device.

    Args:
        name: the parameter.
        shape: cells per axis.
        strides: bytes per step along each axis.
        dtype: of its elements.
        address: of its first element, in bytes.
        readonly: whether it refuses writes.
        on_device: whether its memory is a GPU's.
        value: the array as it was passed.
    """

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[np.generic]
    address: int
    readonly: bool
    on_device: bool
    value: object


@dataclass(frozen=True)
class Overlap:
    """Two array arguments that meet in memory, at least one of which is written."""

    first: str
    second: str
    exact: bool

    def __str__(self) -> str:
        how = "overlap in memory" if self.exact else "may overlap in memory"
        return f"{self.first!r} and {self.second!r} {how}"


def array_facts(name: str, value: object) -> ArrayFacts | None:
    """The facts of an array, or None when the value is no array that can be read in place.

    Args:
        name: the parameter.
        value: what was passed for it.
    """
    if isinstance(value, np.ndarray):
        return ArrayFacts(
            name,
            value.shape,
            value.strides,
            value.dtype,
            value.__array_interface__["data"][0],
            not value.flags.writeable,
            False,
            value,
        )
    described = getattr(value, "__cuda_array_interface__", None)
    if not isinstance(described, Mapping):
        return None
    dtype = np.dtype(described["typestr"])
    shape = tuple(described["shape"])
    strides = described.get("strides") or _packed_strides(shape, dtype.itemsize)
    address, readonly = described["data"]
    return ArrayFacts(
        name, shape, tuple(strides), dtype, int(address or 0), bool(readonly), True, value
    )


def is_on_device(value: object) -> bool:
    """Whether a value is an array in the memory of a GPU.

    Args:
        value: any argument of a call.
    """
    if isinstance(value, np.ndarray):
        return False
    return getattr(value, "__cuda_array_interface__", None) is not None


def _packed_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    return tuple(itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def overlaps(arrays: Iterable[ArrayFacts], written: Collection[str]) -> tuple[Overlap, ...]:
    """Pairs of arrays that meet in memory and of which at least one may be written.

    Args:
        arrays: the array arguments.
        written: names of those that may be written.
    """
    found = []
    for first, second in combinations(arrays, 2):
        if (first.name in written or second.name in written) and (
            first.on_device == second.on_device
        ):
            exact = _meet(_view(first), _view(second))
            if exact is not None:
                found.append(Overlap(first.name, second.name, exact))
    return tuple(found)


def _meet(first: npt.NDArray[np.generic], second: npt.NDArray[np.generic]) -> bool | None:
    """None when they are apart, True when they meet, False when that is too hard to tell."""
    if not np.may_share_memory(first, second):  # compares bounds only
        return None
    try:
        meet = np.shares_memory(first, second, max_work=_OVERLAP_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return False
    return True if meet else None


class _Address:
    """Lets NumPy compute with addresses of a device; the memory behind them is never touched."""

    def __init__(self, facts: ArrayFacts) -> None:
        self.__array_interface__ = {
            "version": 3,
            "data": (facts.address, True),
            "shape": facts.shape,
            "strides": facts.strides,
            "typestr": facts.dtype.str,
        }


def _view(facts: ArrayFacts) -> npt.NDArray[np.generic]:
    if isinstance(facts.value, np.ndarray):
        return facts.value
    return np.asarray(_Address(facts))


def overlaps_itself(facts: ArrayFacts) -> bool:
    """Whether two indices of one array name the same bytes, or might.

    Args:
        facts: the array.
    """
    if 0 in facts.shape:
        return False
    axes = sorted(
        (abs(stride), size)
        for stride, size in zip(facts.strides, facts.shape, strict=True)
        if size > 1
    )
    reach = facts.dtype.itemsize  # bytes that the axes so far cover
    for stride, size in axes:
        if stride < reach:
            break
        reach += stride * (size - 1)
    else:
        return False
    if math.prod(facts.shape) > _SELF_OVERLAP_CELLS:
        return True
    offsets = np.zeros(1, np.int64)
    for stride, size in axes:
        offsets = np.add.outer(offsets, stride * np.arange(size)).ravel()
    offsets.sort()
    return bool((np.diff(offsets) < facts.dtype.itemsize).any())
