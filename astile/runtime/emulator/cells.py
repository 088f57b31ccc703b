"""One element of memory: its value, and who touched it when."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

from astile.runtime.emulator.clock import Interval, Strand

#: Who made an access, and at which place of the text.
Mark = tuple[Strand, int]


class History:
    """The last access of each kind in earlier intervals."""

    __slots__ = ("atomic", "read", "write")

    def __init__(self) -> None:
        self.read: Mark | None = None
        self.write: Mark | None = None
        self.atomic: Mark | None = None

    def take(self, later: History) -> None:
        """Add what happened later."""
        self.read = later.read or self.read
        self.write = later.write or self.write
        self.atomic = later.atomic or self.atomic


class Cell:
    """One element: its value and who touched it.

    `reader` is the first reader of the interval, `other` the last one that is another thread:
    with these two every conflict of a later write is found. Kernels that synchronise warps need
    all readers, in `crowd`.
    """

    __slots__ = (
        "atomics",
        "crowd",
        "foreign",
        "interval",
        "other",
        "other_place",
        "own",
        "reader",
        "reader_place",
        "reads",
        "value",
        "writer",
        "writer_place",
        "writes",
    )

    def __init__(self, value: Any) -> None:
        self.value = value
        self.interval: Interval | None = None
        self.writer: Strand | None = None
        self.reader: Strand | None = None
        self.other: Strand | None = None
        self.writer_place = self.reader_place = self.other_place = 0
        self.atomics: dict[Strand, int] | None = None
        self.crowd: dict[Strand, int] | None = None
        self.own: History | None = None
        self.foreign: History | None = None
        self.reads = self.writes = 0


class Root(NamedTuple):
    """Where an array lies in its memory; names cells in messages.

    It is not the array itself: memory and array would keep each other alive.
    """

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    def find(self, position: int) -> tuple[int, ...] | None:
        """Index of the cell at a position; None when it is not one of the array's."""
        for index in product(*map(range, self.shape)):
            steps = (i * stride for i, stride in zip(index, self.strides, strict=True))
            if self.offset + sum(steps) == position:
                return index
        return None
