"""Arrays as device code sees them: every index checked, every access recorded.

The instrumented text calls `load1`, `store2`, ... with the number of its place; text that is not
instrumented indexes as usual, and the place is then looked up. Views share the memory of their
array. Accesses of up to three indices are written out: they are where the time goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NoReturn

import numpy as np

from astile.runtime.emulator.cells import Root
from astile.runtime.emulator.clock import Clock
from astile.runtime.emulator.errors import BoundsError, EmulationError, Kind
from astile.runtime.emulator.memory import Memory

Index = tuple[int, ...]


class EmulatedArray:
    """A window on a memory.

    Args:
        memory: the cells.
        name: name in the kernel.
        shape: extents.
        strides: cells from one element to the next, per axis.
        offset: cell of the first element.
    """

    __slots__ = (
        "clock",
        "memory",
        "n0",
        "n1",
        "n2",
        "name",
        "offset",
        "read",
        "s0",
        "s1",
        "s2",
        "shape",
        "strides",
        "write",
    )

    def __init__(
        self, memory: Memory, name: str, shape: Index, strides: Index, offset: int = 0
    ) -> None:
        self.memory = memory
        self.read, self.write = memory.read, memory.write
        self.clock: Clock = memory.clock
        self.name = name
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self.n0, self.n1, self.n2 = (*shape, 0, 0, 0)[:3]
        self.s0, self.s1, self.s2 = (*strides, 0, 0, 0)[:3]

    # --- what device code may ask ---------------------------------------------------------------

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return self.memory.dtype

    @property
    def T(self) -> EmulatedArray:  # noqa: N802 - NumPy's name
        """The transposed view."""
        return type(self)(
            self.memory, f"{self.name}.T", self.shape[::-1], self.strides[::-1], self.offset
        )

    @property
    def root(self) -> Root:
        """Where it lies in its memory."""
        return Root(self.name, self.shape, self.strides, self.offset)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[position] for position in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return self.load(index, self.clock.places.running_line())

    def __setitem__(self, index: Any, value: Any) -> None:
        self.store(index, value, self.clock.places.running_line())

    # --- accesses -------------------------------------------------------------------------------

    def load1(self, i: int, place: int) -> Any:
        """Element i."""
        if not 0 <= i < self.n0:
            self.outside((i,), "read", place)
        return self.read(self.offset + i * self.s0, place)

    def load2(self, i: int, j: int, place: int) -> Any:
        """Element i, j."""
        if not (0 <= i < self.n0 and 0 <= j < self.n1):
            self.outside((i, j), "read", place)
        return self.read(self.offset + i * self.s0 + j * self.s1, place)

    def load3(self, i: int, j: int, k: int, place: int) -> Any:
        """Element i, j, k."""
        if not (0 <= i < self.n0 and 0 <= j < self.n1 and 0 <= k < self.n2):
            self.outside((i, j, k), "read", place)
        return self.read(self.offset + i * self.s0 + j * self.s1 + k * self.s2, place)

    def load(self, index: Any, place: int) -> Any:
        """An element, or a view where the index leaves axes open."""
        key = index if isinstance(index, tuple) else (index,)
        if self._is_element(key):
            return self.read(self.position(key, "read", place), place)
        return self.view(key, place)

    def store1(self, i: int, value: Any, place: int) -> None:
        """Write element i."""
        if not 0 <= i < self.n0:
            self.outside((i,), "write", place)
        self.write(self.offset + i * self.s0, value, place)

    def store2(self, i: int, j: int, value: Any, place: int) -> None:
        """Write element i, j."""
        if not (0 <= i < self.n0 and 0 <= j < self.n1):
            self.outside((i, j), "write", place)
        self.write(self.offset + i * self.s0 + j * self.s1, value, place)

    def store3(self, i: int, j: int, k: int, value: Any, place: int) -> None:
        """Write element i, j, k."""
        if not (0 <= i < self.n0 and 0 <= j < self.n1 and 0 <= k < self.n2):
            self.outside((i, j, k), "write", place)
        self.write(self.offset + i * self.s0 + j * self.s1 + k * self.s2, value, place)

    def store(self, index: Any, value: Any, place: int) -> None:
        """Write an element, or every element of a view."""
        key = index if isinstance(index, tuple) else (index,)
        if self._is_element(key):
            self.write(self.position(key, "write", place), value, place)
            return
        view = self.view(key, place)
        if isinstance(value, EmulatedArray):
            if value.shape != view.shape:
                self._refuse(f"cannot copy shape {value.shape} to shape {view.shape}", place)
            for cell in view.indices():
                view.store(cell, value.load(cell, place), place)
        else:
            for cell in view.indices():
                view.store(cell, value, place)

    def update(self, index: Any, operate: Callable[[Any], Any], place: int) -> Any:
        """Change an element atomically; the old value is returned."""
        key = index if isinstance(index, tuple) else (index,)
        if not self._is_element(key):
            self._refuse(f"an atomic update needs {self.ndim} indices, not {index!r}", place)
        position = self.position(key, "atomic update", place)
        return self.memory.update(position, operate, place)

    # --- indices --------------------------------------------------------------------------------

    def _is_element(self, key: tuple[Any, ...]) -> bool:
        return len(key) == len(self.shape) and all(isinstance(i, (int, np.integer)) for i in key)

    def position(self, index: tuple[int, ...], kind: Kind, place: int) -> int:
        """The cell of an element.

        Raises:
            BoundsError: an index is outside its axis.
        """
        position = self.offset
        for i, extent, stride in zip(index, self.shape, self.strides, strict=True):
            if not 0 <= i < extent:
                self.outside(index, kind, place)
            position += int(i) * stride
        return position

    def outside(self, index: tuple[int, ...], kind: Kind, place: int) -> NoReturn:
        """Report an index that is outside its axis.

        Raises:
            BoundsError: always.
        """
        pairs = enumerate(zip(index, self.shape, strict=True))
        axis = next(axis for axis, (i, extent) in pairs if not 0 <= i < extent)
        shown = list(index)
        raise BoundsError(
            f"{self.memory.scope} {self.name}{shown}: index {index[axis]} is outside axis {axis} "
            f"of shape {self.shape}",
            array=self.name,
            cell=tuple(index),
            access=self.clock.access(kind, place),
            operation=self.clock.operation,
        )

    def view(self, key: tuple[Any, ...], place: int) -> EmulatedArray:
        """The part of the array that an index with slices selects.

        Raises:
            BoundsError: an integer index is outside its axis.
            EmulationError: the index is of another kind.
        """
        if Ellipsis in key:
            at = key.index(Ellipsis)
            key = key[:at] + (slice(None),) * (self.ndim - len(key) + 1) + key[at + 1 :]
        key += (slice(None),) * (self.ndim - len(key))
        if len(key) > self.ndim:
            self._refuse(f"{len(key)} indices for {self.ndim} axes of {self.name}", place)
        offset, shape, strides = self.offset, [], []
        for axis, (part, extent, stride) in enumerate(
            zip(key, self.shape, self.strides, strict=True)
        ):
            if isinstance(part, slice):
                start, stop, step = part.indices(extent)
                offset += start * stride
                shape.append(len(range(start, stop, step)))
                strides.append(step * stride)
            elif isinstance(part, (int, np.integer)):
                if not 0 <= part < extent:
                    self.outside(
                        (0,) * axis + (int(part),) + (0,) * (self.ndim - axis - 1), "read", place
                    )
                offset += int(part) * stride
            else:
                self._refuse(f"index {part!r} of {self.name}: neither integer nor slice", place)
        parts = ", ".join(_shown(part) for part in key)
        return type(self)(
            self.memory, f"{self.name}[{parts}]", tuple(shape), tuple(strides), offset
        )

    def _refuse(self, message: str, place: int) -> NoReturn:
        raise EmulationError(
            message, span=self.clock.places.span(place), operation=self.clock.operation
        )

    def indices(self) -> Iterator[Index]:
        """The indices of all elements."""
        return product(*map(range, self.shape))


class LocalMemory(Memory):
    """Memory of one thread: only bounds and fresh cells matter.

    Args:
        size: number of cells.
        dtype: type of the elements.
        clock: who runs now.
    """

    def __init__(self, size: int, dtype: np.dtype[Any], clock: Clock) -> None:
        super().__init__("local", 0, dtype, clock)
        self.values: list[Any] = [None] * size

    def read(self, position: int, place: int) -> Any:
        """The value of a cell.

        Raises:
            UninitialisedError: nothing was written to it.
        """
        value = self.values[position]
        if value is None:
            self.unwritten(position, "read", place)
        return value

    def write(self, position: int, value: Any, place: int) -> None:
        """Give a cell a value."""
        self.values[position] = value if type(value) is self.exact else self.cast(value)

    def update(self, position: int, operate: Any, place: int) -> Any:
        """Refuse: atomic operations exist on shared and global memory only.

        Raises:
            EmulationError: always.
        """
        raise EmulationError(
            "atomic operation on a local array",
            span=self.clock.places.span(place),
            operation=self.clock.operation,
        )


def strides_of(shape: Index) -> Index:
    """Strides, in cells, of an array in C order."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def _shown(part: slice | int) -> str:
    if not isinstance(part, slice):
        return str(part)
    ends = ["" if end is None else str(end) for end in (part.start, part.stop)]
    return ":".join(ends) + ("" if part.step is None else f":{part.step}")
