"""What a call must bring so that a program may run in place of the function as it was written.

A slice is turned into a loop under assumptions that the text does not show: how many axes an
argument has, that two axes are equally long, that a value fits into the cells it is stored in. They
are looked at when the kernel is called. Where one does not hold, the function runs as it was
written, with whatever NumPy makes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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


#: An argument and one of its axes; an argument that is an integer, and None.
Length: TypeAlias = tuple[str, int | None]


@dataclass(frozen=True)
class SameExtent:
    """Two lengths are equal.

    Args:
        first: of an axis, or the value of an integer.
        second: the same of another argument.
    """

    first: Length
    second: Length

    def holds(self, values: Values) -> bool:
        """Whether both are there, and equal."""
        one, other = _length(self.first, values), _length(self.second, values)
        return one is not None and one == other


@dataclass(frozen=True)
class NotNegative:
    """A sum of lengths is at least 0.

    Args:
        terms: the lengths and what each is multiplied with.
        constant: what is added.
    """

    terms: tuple[tuple[Length, int], ...]
    constant: int

    def holds(self, values: Values) -> bool:
        """Whether all lengths are known, and their sum is at least 0."""
        total = self.constant
        for length, factor in self.terms:
            known = _length(length, values)
            if known is None:
                return False
            total += factor * known
        return total >= 0


#: The type of cells: as those of an argument, by the name of a dtype, or that of Python numbers;
#: that of a sum of the cells of an argument, and that of the number that NumPy makes of one.
#: Each may be one that only some runs compute with: `1.0` and `y` in ``x * (1.0 if c else y)``.
Kind: TypeAlias = Literal[
    "like", "dtype", "weak", "sum", "number",
    "maybe like", "maybe dtype", "maybe weak", "maybe sum", "maybe number",
]  # fmt: skip
Source: TypeAlias = tuple[Kind, str]
_MAYBE: Mapping[Kind, Kind] = {
    "like": "maybe like",
    "dtype": "maybe dtype",
    "weak": "maybe weak",
    "sum": "maybe sum",
    "number": "maybe number",
}
_SURE: Mapping[Kind, Kind] = {maybe: kind for kind, maybe in _MAYBE.items()}
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
        value, kept = _widest(self.sources, values), joined_type([self.target], values)
        if value is None or kept is None:
            return False
        joined = np.result_type(value, kept)
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


@dataclass(frozen=True)
class JoinedType:
    """Types join to one of them, in which NumPy also computes.

    Sums are taken in a type that the text says; for other types it would be another one.

    Args:
        kept: the type that all join to.
        sources: the types.
        kinds: of the type, as NumPy's letters: ``"f"`` for floating-point numbers.
    """

    kept: Source
    sources: tuple[Source, ...]
    kinds: str

    def holds(self, values: Values) -> bool:
        """Whether all are known and join to `kept`; float16 is computed in other types."""
        kept, joined = joined_type([self.kept], values), joined_type(self.sources, values)
        if kept is None or joined is None or kept != joined or kept.kind not in self.kinds:
            return False
        return kept.kind != "f" or kept.itemsize in (4, 8)


def joined_type(sources: Iterable[Source], values: Values) -> np.dtype[Any] | None:
    """The type that NumPy promotes several to, or None where one is not known.

    None too where it depends on what meets first: of int8, float32 and 0.5, the product of the
    first with the last is of float64, and all others are of float32. And where it depends on which
    of several values is chosen.

    Args:
        sources: the types.
        values: parameter -> argument, defaults filled in.
    """
    sources = list(sources)
    always = [each for each in sources if each[0] not in _SURE]
    if len(always) < len(sources):
        may_be_weak = all(kind == "weak" for kind, _ in always)  # of Python: any other type counts
        joined = joined_type({sure(each) for each in sources}, values)
        return None if may_be_weak or joined_type(always, values) != joined else joined
    joined, widest = _promoted([_operand(e, values) for e in sources]), _widest(sources, values)
    if joined is None or widest is None:  # which are equal to float64 for NumPy
        return None
    return joined if joined == widest else None


def chosen(alternatives: Sequence[Iterable[Source]]) -> set[Source]:
    """The types of a value that is one of several.

    Args:
        alternatives: the types of each.
    """
    sets = [set(each) for each in alternatives]
    always = set.intersection(*sets) if sets else set()
    return {*always, *map(maybe, set().union(*sets) - always)}


def maybe(source: Source) -> Source:
    """A type that may count."""
    return _MAYBE.get(source[0], source[0]), source[1]


def sure(source: Source) -> Source:
    """The type that counts, or may count."""
    return _SURE.get(source[0], source[0]), source[1]


def _widest(sources: Iterable[Source], values: Values) -> np.dtype[Any] | None:
    """The type that several join to where each meets Python's numbers first."""
    operands = [_operand(each, values) for each in sources]
    weak = [each for each in operands if type(each) in (int, float, complex)]
    if len(weak) == len(operands):
        return _promoted(operands)
    strong = [each for each in operands if type(each) not in (int, float, complex)]
    return _promoted([None if each is None else _promoted([each, *weak]) for each in strong])


def _promoted(operands: Sequence[Any]) -> np.dtype[Any] | None:
    if not operands or any(each is None for each in operands):
        return None
    try:
        return np.result_type(*operands)
    except (TypeError, ValueError, OverflowError):  # no common type: texts, records
        return None


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


def _length(length: Length, values: Values) -> int | None:
    name, axis = length
    value = values.get(name)
    if axis is None:
        return int(value) if isinstance(value, (int, np.integer)) else None
    described = _described(value)
    return described[0][axis] if described is not None and axis < len(described[0]) else None


def _operand(source: Source, values: Values) -> Any:
    """What promotion takes for a type; None where it is not known."""
    kind, name = sure(source)
    if kind == "weak":
        return _WEAK[name]
    if kind == "dtype":
        return np.dtype(name)
    value = values.get(name)
    if kind == "number":
        return _number_type(value)
    described = _described(value)
    if kind == "sum":
        return None if described is None else _sum_type(described[1])
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return value
    return None if described is None else described[1]


def _number_type(value: object) -> np.dtype[Any] | None:
    """The type of the number that NumPy makes of one; not known where functions may narrow it.

    Args:
        value: a number, or an array one of whose cells is taken.
    """
    described = _described(value)
    if described is not None:
        dtype = described[1]
    elif isinstance(value, (bool, int, float, complex, np.generic)):
        dtype = np.result_type(value) if isinstance(value, np.generic) else np.dtype(type(value))
    else:
        return None
    return dtype if dtype.kind in "iufc" and dtype.itemsize >= 4 else None


def _sum_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    wide = {"b": np.int64, "i": np.int64, "u": np.uint64}
    return np.dtype(wide.get(dtype.kind, dtype))
