"""What is said of the indices and divisions of a program: conditions on sizes, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from astile.analysis.forms.size_functions import Function, Integers, Shapes
from astile.source import Span

#: What raises an error when it is divided by zero.
NUMBERS = (bool, int, float, complex)


@dataclass(frozen=True, eq=False)
class Condition:
    """What must hold so that one index of one access stays inside.

    Args:
        array: the array.
        axis: the axis that the index is on.
        text: the access as written.
        span: where it is written.
        lookups: how to find each parameter: an integer argument, or an array's axis.
        names: the parameters as the user writes them.
        fails: whether the index leaves the array.
        lowest: the least value of the index.
        highest: its greatest value.
        extent: the length of the axis.
    """

    array: str
    axis: int
    text: str
    span: Span | None
    lookups: tuple[tuple[str, int | None], ...]
    names: tuple[str, ...]
    fails: Function = field(repr=False)
    lowest: Function = field(repr=False)
    highest: Function = field(repr=False)
    extent: Function = field(repr=False)

    def _values(self, shapes: Shapes, ints: Integers) -> list[int]:
        return [ints[name] if axis is None else shapes[name][axis] for name, axis in self.lookups]

    def holds(self, shapes: Shapes, ints: Integers) -> bool:
        """Whether the access stays inside, in time that does not depend on the sizes.

        Args:
            shapes: array argument -> its shape.
            ints: integer argument -> its value.
        """
        return not self.fails(self._values(shapes, ints))

    def is_known_to_hold(self, shapes: Shapes, ints: Integers) -> bool:
        """The same; False where a size is missing.

        Args:
            shapes: array argument -> its shape.
            ints: integer argument -> its value.
        """
        try:
            return self.holds(shapes, ints)
        except LookupError:
            return False

    def message(self, shapes: Shapes, ints: Integers) -> str:
        """The access, its array and axis, the index it reaches and the sizes, in one sentence.

        Args:
            shapes: array argument -> its shape.
            ints: integer argument -> its value.
        """
        values = self._values(shapes, ints)
        extent, low, high = self.extent(values), self.lowest(values), self.highest(values)
        known = ", ".join(f"{n} = {v}" for n, v in zip(self.names, values, strict=True))
        if high >= extent:
            reach = f"index {high} is past the end"
        else:
            reach = f"index {low} is negative, and before the start when counted from the end"
        return (
            f"{self.text} leaves {self.array}: along axis {self.axis}, of length {extent}, its "
            f"index runs from {low} to {high}, and {reach}" + (f" ({known})" if known else "")
        )


@dataclass(frozen=True)
class Unproved:
    """An access that no condition on sizes can show to stay inside.

    Args:
        array: the array.
        text: the access as written.
        span: where it is written.
        reason: what is not known.
    """

    array: str
    text: str
    span: Span | None
    reason: str


@dataclass(frozen=True, eq=False)
class Division:
    """A division that raises a ZeroDivisionError at some sizes.

    Args:
        text: as written.
        span: where it is written.
        divisor: an argument that it divides by; None where sizes alone decide.
        numbers: arguments that have to be numbers of Python; those of NumPy raise nothing.
        lookups: an integer argument and None, or an array argument and an axis.
        fails: whether it is reached with a divisor that may be 0, by the values of the lookups.
    """

    text: str
    span: Span | None
    divisor: str | None
    numbers: frozenset[str]
    lookups: tuple[tuple[str, int | None], ...]
    fails: Function = field(repr=False)

    def raises(self, values: Mapping[str, object], shapes: Shapes, ints: Integers) -> bool:
        """Whether it raises in a call.

        Args:
            values: parameter -> argument.
            shapes: array argument -> its shape.
            ints: integer argument -> its value.
        """
        if not all(type(values.get(name)) in NUMBERS for name in self.numbers):
            return False
        if self.divisor is not None and values[self.divisor] != 0:
            return False
        known = []
        for name, axis in self.lookups:
            extents = shapes.get(name, ())
            if name not in ints if axis is None else axis >= len(extents):
                return False  # the check of arguments says so
            known.append(ints[name] if axis is None else extents[axis])
        return bool(self.fails(known))
