"""What a call must bring so that a program may run in place of the function as it was written.

A slice is turned into a loop under assumptions that the text does not show: how many axes an
argument has, that two axes are equally long, that a value fits into the cells it is stored in. They
are looked at when the kernel is called. Where one does not hold, the function runs as it was
written, with whatever NumPy makes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

Values = Mapping[str, object]


class Need(Protocol):
    """One assumption about the arguments of a call."""

    def holds(self, values: Values) -> bool:
        """Whether it holds, in time that does not depend on the sizes of arrays.

        Args:
            values: parameter -> argument, defaults filled in.
        """


@dataclass(frozen=True)
class Rank:
    """An argument is an array.

    Args:
        name: the argument.
        axes: how many axes it has.
    """

    name: str
    axes: int

    def holds(self, values: Values) -> bool:
        """Whether it is an array of so many axes."""
        described = _described(values.get(self.name))
        return described is not None and len(described[0]) == self.axes


@dataclass(frozen=True)
class Number:
    """An argument is a number.

    Args:
        name: the argument.
    """

    name: str

    def holds(self, values: Values) -> bool:
        """Whether it is a number of Python or NumPy."""
        return isinstance(values.get(self.name), (int, float, complex, np.number, np.bool_))


@dataclass(frozen=True)
class Integer:
    """An argument is an integer.

    Args:
        name: the argument.
        least: its least value, None for any.
    """

    name: str
    least: int | None = None

    def holds(self, values: Values) -> bool:
        """Whether it is an integer, and not too small."""
        value = values.get(self.name)
        if not isinstance(value, (int, np.integer)):
            return False
        return self.least is None or int(value) >= self.least


@dataclass(frozen=True)
class SameExtent:
    """Axes of two arguments are equally long.

    Args:
        first: an argument and one of its axes.
        second: the same of the other.
    """

    first: tuple[str, int]
    second: tuple[str, int]

    def holds(self, values: Values) -> bool:
        """Whether both axes are there, and of one length."""
        lengths: list[int | None] = []
        for name, axis in (self.first, self.second):
            described = _described(values.get(name))
            known = described is not None and axis < len(described[0])
            lengths.append(described[0][axis] if described is not None and known else None)
        return lengths[0] is not None and lengths[0] == lengths[1]


#: The type of cells: as those of an argument, by the name of a dtype, or that of Python numbers.
Source: TypeAlias = tuple[Literal["like", "dtype", "weak"], str]
_WEAK: Mapping[str, complex] = {"int": 0, "float": 0.0, "complex": 0j}


@dataclass(frozen=True)
class Fits:
    """A value made of some types can be stored in cells of a type, by the casts NumPy allows.

    NumPy refuses ``A[:] += B[:]`` where this does not hold; a loop over the cells would round.

    Args:
        target: the type of the cells.
        sources: types of what the value is computed from.
    """

    target: Source
    sources: tuple[Source, ...]

    def holds(self, values: Values) -> bool:
        """Whether NumPy's promotion of all types ends in one that can be cast to the cells'."""
        target = _operand(self.target, values)
        operands = [target, *(_operand(each, values) for each in self.sources)]
        if any(each is None for each in operands):
            return False
        try:
            joined, kept = np.result_type(*operands), np.result_type(target)
        except (TypeError, ValueError):  # no common type: texts, records
            return False
        return joined.kind in "biuf" and np.can_cast(joined, kept, "same_kind")


@dataclass(frozen=True)
class Arithmetic:
    """Types are those of integers and floating-point numbers, of no truth values.

    Args:
        sources: the types.
    """

    sources: tuple[Source, ...]

    def holds(self, values: Values) -> bool:
        """Whether none is a boolean, a complex number, or something else."""
        found = [_operand(each, values) for each in self.sources]
        return all(each is not None and np.result_type(each).kind in "iuf" for each in found)


def are_met(needs: Iterable[Need], values: Values) -> bool:
    """Whether all assumptions hold for one call.

    Args:
        needs: the assumptions of a program.
        values: parameter -> argument, defaults filled in.
    """
    return all(each.holds(values) for each in needs)


def _described(value: Any) -> tuple[tuple[int, ...], np.dtype[Any]] | None:
    """Shape and dtype of an array on the host or a device; None for anything else."""
    if isinstance(value, np.ndarray):
        # a matrix multiplies with `*`, a masked array skips cells: no loops over cells for these
        return (value.shape, value.dtype) if type(value) in (np.ndarray, np.memmap) else None
    described = getattr(value, "__cuda_array_interface__", None)
    if not isinstance(described, Mapping):
        return None
    return tuple(described["shape"]), np.dtype(described["typestr"])


def _operand(source: Source, values: Values) -> Any:
    """What promotion takes for a type; None where it is not known."""
    kind, name = source
    if kind == "weak":
        return _WEAK[name]
    if kind == "dtype":
        return np.dtype(name)
    value = values.get(name)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return value
    described = _described(value)
    return None if described is None else described[1]
