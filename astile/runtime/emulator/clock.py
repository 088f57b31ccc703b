"""Who runs now: strands, intervals and the clock that arrays look at.

A *strand* is what one thread does between two synchronisations of its warp, an *interval* what
one block does between two barriers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from astile.runtime.emulator.copies import Copies
from astile.runtime.emulator.errors import Access, Index3, Kind, Places, UninitialisedError
from astile.runtime.emulator.warps import Warps


class Strand:
    """One thread, up to its next synchronisation with its warp.

    Args:
        thread: x, y, z.
        block: x, y, z of its block.
        number: position in the block.
        seen: for kernels that synchronise warps, what this strand comes after: for each lane of
            the warp the number of synchronisations.
    """

    __slots__ = ("block", "lane", "number", "seen", "thread", "warp")

    def __init__(
        self, thread: Index3, block: Index3, number: int, seen: tuple[int, ...] | None = None
    ) -> None:
        self.thread = thread
        self.block = block
        self.number = number
        self.warp, self.lane = divmod(number, 32)
        self.seen = seen

    def is_after(self, other: Strand) -> bool:
        """Whether `other`, of the same interval, is ordered before this strand."""
        if self.number == other.number:
            return True
        if self.warp != other.warp or self.seen is None or other.seen is None:
            return False
        return self.seen[other.lane] >= other.seen[other.lane]


ATOMIC = Strand((-1, -1, -1), (-1, -1, -1), -1)
"""Stands as the writer of a cell that had atomic updates only."""


class Interval:
    """What one block does between two barriers."""

    __slots__ = ("block",)

    def __init__(self, block: Index3) -> None:
        self.block = block


@dataclass(slots=True)
class Clock:
    """Who runs now.

    Args:
        strand: the running strand.
        interval: the running interval.
        places: places of the generated text.
        operation: the launch, for messages.
        warp_ordered: whether the kernel synchronises warps.
        missed: the first read of a cell without a value in this interval; its thread has
            stopped, and the others run on in case that one of them writes the cell.
        warps: counts what accesses cost; None where nobody asks.
        copies: those that run beside the computation of the running block.
    """

    strand: Strand
    interval: Interval
    places: Places
    operation: str
    warp_ordered: bool = False
    missed: UninitialisedError | None = None
    warps: Warps | None = None
    copies: Copies = field(default_factory=Copies)

    def settle(self) -> None:
        """End an interval: a value that was missed is a fault now.

        Raises:
            UninitialisedError: a cell was read that nothing was written to.
        """
        if self.missed is not None:
            raise self.missed

    def access(self, kind: Kind, place: int) -> Access:
        """The access that the running strand makes at a place."""
        return self.access_by(self.strand, kind, place)

    def access_by(self, strand: Strand, kind: Kind, place: int) -> Access:
        """The access that a strand made at a place."""
        return Access(kind, strand.thread, strand.block, self.places.span(place))
