"""One launch while it runs: its limits, its order, its threads and their shared memory."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any, Literal

import numpy as np

from astile.analysis.counts import gpu_limits
from astile.runtime.emulator.arrays import (
    EmulatedArray,
    LocalMemory,
    strides_of,
)
from astile.runtime.emulator.clock import Clock, Strand
from astile.runtime.emulator.errors import EmulationError, Index3, LimitError
from astile.runtime.emulator.memory import Memory

Event = tuple[str, int, tuple[Any, ...]]
Order = Literal["forward", "reverse"] | int
#: To what the piece of shared memory of a launch is aligned.
_ALIGNMENT = 16


@dataclass(frozen=True)
class Limits:
    """What a launch may use; the defaults are those of a Hopper GPU.

    Args:
        threads: threads of a block.
        block: threads along x, y, z.
        grid: blocks along x, y, z.
        static_shared: bytes of shared arrays of known size, per block.
        shared: bytes of shared memory of both kinds, per block.
    """

    threads: int = gpu_limits.MOST_THREADS
    block: Index3 = tuple(gpu_limits.MOST_ALONG.values())  # type: ignore[assignment]
    grid: Index3 = tuple(gpu_limits.MOST_BLOCKS.values())  # type: ignore[assignment]
    static_shared: int = gpu_limits.SHARED_UNASKED
    shared: int = gpu_limits.most_shared((9, 0))


@dataclass
class Execution:
    """One launch while it runs.

    Args:
        grid: blocks along x, y, z.
        block: threads along x, y, z.
        dynamic_shared: bytes of dynamic shared memory.
        limits: of the device.
        order: of threads and blocks.
        clock: who runs now.
        intervals: how many there were.
        shared_bytes: static shared memory, the most that a block used.
    """

    grid: Index3
    block: Index3
    dynamic_shared: int
    limits: Limits
    order: Order
    clock: Clock
    intervals: int = 0
    shared_bytes: int = 0
    shuffle: Random | None = field(init=False)

    def __post_init__(self) -> None:
        self.shuffle = Random(self.order) if isinstance(self.order, int) else None

    def ordered(self, items: list[Any]) -> list[Any]:
        """Threads or blocks in the order in which they run; another one each time when shuffled."""
        if self.shuffle is not None:
            items = list(items)
            self.shuffle.shuffle(items)
            return items
        return items[::-1] if self.order == "reverse" else items

    def blocks(self) -> list[Index3]:
        """The blocks of the grid in the order in which they run."""
        gx, gy, gz = self.grid
        ids = [(x, y, z) for z, y, x in product(range(gz), range(gy), range(gx))]
        return self.ordered(ids)


class BlockMemory:
    """The shared arrays of one block.

    Args:
        execution: the launch.
    """

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self._arrays: dict[int, EmulatedArray] = {}
        self._dynamic: Memory | None = None
        self._pieces: list[tuple[int, int, str]] = []
        self._bytes = 0

    def array(
        self, place: int, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], alignment: int
    ) -> EmulatedArray:
        """The shared array that a place of the text allocates; the same one for all threads.

        Raises:
            LimitError: there is not that much shared memory.
        """
        if place not in self._arrays:
            array = self._make(place, name, shape, dtype, alignment)
            array.memory.roots.append(array.root)
            self._arrays[place] = array
        return self._arrays[place]

    def _make(
        self, place: int, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], alignment: int
    ) -> EmulatedArray:
        execution, clock = self.execution, self.execution.clock
        size = int(np.prod(shape, dtype=np.int64))
        if size == 0:
            memory = self._dynamic_memory(dtype, place)
            return EmulatedArray(memory, name, (len(memory.cells),), (1,))
        self._bytes = -(-self._bytes // alignment) * alignment + size * dtype.itemsize
        execution.shared_bytes = max(execution.shared_bytes, self._bytes)
        limit = execution.limits.static_shared
        if self._bytes > limit:
            raise LimitError(
                f"shared arrays up to {name} take {self._bytes} bytes of at most {limit}",
                span=clock.places.span(place),
                operation=clock.operation,
            )
        memory = Memory("shared", size, dtype, clock)
        memory.address = alignment  # no more than that is promised
        return EmulatedArray(memory, name, shape, strides_of(shape))

    def part(
        self, place: int, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], offset: int
    ) -> EmulatedArray:
        """An array in the piece of shared memory of the launch; the same one for all threads.

        Each has cells of its own, so that what is read as another type than it was written as is
        found as never written.

        Raises:
            LimitError: it reaches behind the end of the piece.
            EmulationError: another one lies there.
        """
        if place not in self._arrays:
            array = self._part(place, name, shape, dtype, offset)
            array.memory.roots.append(array.root)
            self._arrays[place] = array
        return self._arrays[place]

    def _part(
        self, place: int, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], offset: int
    ) -> EmulatedArray:
        execution, clock = self.execution, self.execution.clock
        size = int(np.prod(shape, dtype=np.int64))
        end, given = offset + size * dtype.itemsize, execution.dynamic_shared
        execution.shared_bytes = max(execution.shared_bytes, given)
        span = clock.places.span(place)
        if offset < 0 or end > given:
            raise LimitError(
                f"{name} ends at byte {end} of the {given} of shared memory that the launch has",
                span=span,
                operation=clock.operation,
            )
        for first, last, other in self._pieces:
            if first < end and offset < last:
                raise EmulationError(
                    f"{name} and {other} lie in the same shared memory",
                    span=span,
                    operation=clock.operation,
                )
        self._pieces.append((offset, end, name))
        memory = Memory("shared", size, dtype, clock)
        memory.address = _ALIGNMENT + offset % _ALIGNMENT  # no more than that is promised
        return EmulatedArray(memory, name, shape, strides_of(shape))

    def _dynamic_memory(self, dtype: np.dtype[Any], place: int) -> Memory:
        """Arrays of shape 0 all start at the beginning of dynamic shared memory."""
        clock = self.execution.clock
        if self._dynamic is None:
            cells = self.execution.dynamic_shared // dtype.itemsize
            self._dynamic = Memory("shared", cells, dtype, clock)
        if self._dynamic.dtype != dtype:
            raise EmulationError(
                f"dynamic shared memory as {dtype} and as {self._dynamic.dtype} in one kernel",
                span=clock.places.span(place),
                operation=clock.operation,
            )
        return self._dynamic


class Thread:
    """What a kernel may ask of its thread; fields are short, since the text names them often."""

    __slots__ = (
        "answer",
        "bx",
        "by",
        "bz",
        "dx",
        "dy",
        "dz",
        "gx",
        "gy",
        "gz",
        "lane",
        "memory",
        "number",
        "steps",
        "strand",
        "tx",
        "ty",
        "tz",
        "warp",
    )

    def __init__(self, index: Index3, block: Index3, number: int, memory: BlockMemory) -> None:
        execution = memory.execution
        self.tx, self.ty, self.tz = index
        self.bx, self.by, self.bz = block
        self.dx, self.dy, self.dz = execution.block
        self.gx, self.gy, self.gz = execution.grid
        self.number = number
        self.warp, self.lane = divmod(number, 32)
        self.memory = memory
        seen = None
        if execution.clock.warp_ordered:
            seen = tuple(int(lane == self.lane) for lane in range(32))
        self.strand = Strand(index, block, number, seen)
        self.steps: Generator[Event, Any, None] | None = None
        self.answer: Any = None

    def grid(self, axes: int) -> Any:
        """Position in the whole grid: a number for one axis, else a tuple."""
        x = self.bx * self.dx + self.tx
        if axes == 1:
            return x
        return (x, self.by * self.dy + self.ty, self.bz * self.dz + self.tz)[:axes]

    def gridsize(self, axes: int) -> Any:
        """Threads of the whole grid: a number for one axis, else a tuple."""
        x = self.gx * self.dx
        return x if axes == 1 else (x, self.gy * self.dy, self.gz * self.dz)[:axes]

    def shared(
        self, place: int, name: str, shape: Any, dtype: Any, alignment: int | None = None
    ) -> EmulatedArray:
        """An array that the threads of the block share."""
        kind = np.dtype(dtype)
        return self.memory.array(
            place, name, _extents(shape), kind, max(alignment or 1, kind.itemsize)
        )

    def part(self, place: int, name: str, shape: Any, dtype: Any, offset: int) -> EmulatedArray:
        """An array in the piece of shared memory of the launch."""
        return self.memory.part(place, name, _extents(shape), np.dtype(dtype), int(offset))

    def local(
        self, place: int, name: str, shape: Any, dtype: Any, alignment: int | None = None
    ) -> EmulatedArray:
        """An array of this thread, fresh at each call."""
        extents = _extents(shape)
        size = int(np.prod(extents, dtype=np.int64))
        memory = LocalMemory(size, np.dtype(dtype), self.memory.execution.clock)
        array = EmulatedArray(memory, name, extents, strides_of(extents))
        memory.roots.append(array.root)
        return array


def _extents(shape: Any) -> tuple[int, ...]:
    return tuple(map(int, shape)) if isinstance(shape, tuple) else (int(shape),)
