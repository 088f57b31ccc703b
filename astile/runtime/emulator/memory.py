"""Cells that know who touched them: the race rules of shared and global memory.

Two accesses of one cell, at least one a write, are ordered when the same thread makes both, when
a barrier of their block or of their warp lies between, and never when they belong to different
blocks. Everything is kept per cell and renewed when the cell is first touched in an interval, so
that a barrier costs nothing.
"""

from __future__ import annotations

from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from astile.runtime.emulator.cells import Cell, History, Mark, Root
from astile.runtime.emulator.clock import ATOMIC, Clock
from astile.runtime.emulator.errors import (
    EmulationError,
    Kind,
    RaceError,
    UninitialisedError,
)
from astile.runtime.emulator.scalars import caster, exact_type
from astile.runtime.emulator.warps import Lanes

Scope = Literal["global", "shared", "local"]


class Memory:
    """The cells of one allocation.

    Args:
        scope: ``"shared"`` or ``"global"``.
        size: number of cells.
        dtype: type of the elements.
        clock: who runs now.
        flat: the host's memory, for global arrays.
        written: which cells hold a value; None where all do. Kept up to date.
        locked: why device code may not write; None where it may.
    """

    def __init__(
        self,
        scope: Scope,
        size: int,
        dtype: np.dtype[Any],
        clock: Clock,
        *,
        flat: NDArray[Any] | None = None,
        written: NDArray[np.bool_] | None = None,
        locked: str | None = None,
    ) -> None:
        self.scope = scope
        self.clock = clock
        self.flat = flat
        self.written = written
        self.locked = locked
        self.cells: list[Cell | None] = [None] * size
        self.roots: list[Root] = []
        self.flying: dict[int, tuple[Cell, Mark]] = {}
        self.asked: dict[int, Lanes] = {}
        self.address = 0 if flat is None else int(flat.__array_interface__["data"][0])
        self.cast = caster(dtype)
        self.exact = exact_type(dtype)
        self.dtype = dtype
        self._missed: dict[int, tuple[Mark, Kind]] = {}
        self._fetch = None
        if flat is not None:
            self._fetch = flat.item if dtype.kind in "iub" else flat.__getitem__

    # --- the three kinds of access --------------------------------------------------------------

    def read(self, position: int, place: int) -> Any:
        """The value of a cell, for the running strand.

        Raises:
            RaceError: another thread wrote it, and nothing lies between.
            UninitialisedError: nothing was written to it.
        """
        cell = self.cells[position]
        if cell is None:
            cell = self.first_read(position, place)
        clock = self.clock
        strand = clock.strand
        if cell.interval is not clock.interval:
            self.enter(cell, position, "read", place)
        writer, reader = cell.writer, cell.reader
        if writer is not None and writer is not strand:
            self.meet_writer(cell, position, "read", place)
        if reader is None:
            cell.reader = strand
            cell.reader_place = place
        elif reader is not strand:
            cell.other = strand
            cell.other_place = place
        if clock.warp_ordered:
            cell.crowd = cell.crowd or {}
            cell.crowd[strand] = place
        if clock.warps is not None:
            lanes = self.asked.get(place) or clock.warps.open(self, place)
            lanes[strand.number].append(position)
        cell.reads += 1
        return cell.value

    def write(self, position: int, value: Any, place: int) -> None:
        """Give a cell a value, for the running strand.

        Raises:
            RaceError: another thread touched it, and nothing lies between.
            EmulationError: the array is read-only.
        """
        cell = self.cells[position]
        if cell is None:
            self._check_arrived(position, "write", place)
            if position in self._missed:
                self._race(position, "write", place, *self._missed[position])
            cell = self.cells[position] = Cell(None)
        clock = self.clock
        strand = clock.strand
        if cell.interval is not clock.interval:
            self.enter(cell, position, "write", place)
        elif cell.foreign is not None:
            self._meet_foreign(cell, position, "write", place)
        if cell.writer is not None and cell.writer is not strand:
            self.meet_writer(cell, position, "write", place)
        if cell.other is not None or (cell.reader is not None and cell.reader is not strand):
            self._meet_readers(cell, position, "write", place)
        cell.writer, cell.writer_place = strand, place
        if clock.warps is not None:
            clock.warps.note(self, strand, "write", place, position)
        self._put(cell, position, value, place)

    def update(self, position: int, operate: Any, place: int) -> Any:
        """Change a cell atomically, for the running strand; the old value is returned.

        Raises:
            RaceError: another thread touched it other than atomically, and nothing lies between.
            UninitialisedError: nothing was written to it.
            EmulationError: the array is read-only.
        """
        cell = self.cells[position] or self.first_read(position, place, "atomic update")
        strand = self.clock.strand
        if cell.interval is not self.clock.interval:
            self.enter(cell, position, "atomic update", place)
        elif cell.foreign is not None:
            self._meet_foreign(cell, position, "atomic update", place)
        writer = cell.writer
        if writer is None:
            cell.writer = ATOMIC
        elif writer is not ATOMIC and not strand.is_after(writer):
            self._race(position, "atomic update", place, (writer, cell.writer_place), "write")
        if cell.reader is not None:
            self._meet_readers(cell, position, "atomic update", place)
        cell.atomics = cell.atomics or {}
        cell.atomics[strand] = place
        old = cell.value
        cell.reads += 1
        self._put(cell, position, operate(old), place)
        return old

    def _put(self, cell: Cell, position: int, value: Any, place: int) -> None:
        if type(value) is not self.exact:
            value = self.cast(value)
        cell.value = value
        cell.writes += 1
        if self.flat is not None:
            if self.locked is not None:
                raise EmulationError(
                    f"{self.named(position)[0]} {self.locked}",
                    span=self.clock.places.span(place),
                    operation=self.clock.operation,
                )
            self.flat[position] = value
            if self.written is not None:
                self.written[position] = True

    # --- first touches --------------------------------------------------------------------------

    def first_read(self, position: int, place: int, kind: Kind = "read") -> Cell:
        """The cell of a position that was not touched yet, filled from the host's memory.

        Raises:
            UninitialisedError: it holds no value. The thread stops; should another one write
                the cell before the next barrier, it turns out to be a race.
        """
        self._check_arrived(position, kind, place)
        if self._fetch is None or (self.written is not None and not self.written[position]):
            self._missed[position] = (self.clock.strand, place), kind
            self.unwritten(position, kind, place)
        cell = self.cells[position] = Cell(self._fetch(position))
        return cell

    # --- copies that run beside the computation ---------------------------------------------------

    def begin_copy(self, position: int, value: Any, place: int) -> None:
        """Write a cell whose value arrives later: until `end_copy` nobody may touch it.

        Raises:
            RaceError: another thread touched it, and nothing lies between.
        """
        self.write(position, value, place)
        cell = self.cells[position]
        assert cell is not None
        self.cells[position] = None
        self.flying[position] = cell, (self.clock.strand, place)

    def end_copy(self, position: int) -> None:
        """The value of a copy has arrived, for the running strand."""
        cell, (_, place) = self.flying.pop(position)
        self.cells[position] = cell
        if cell.interval is not self.clock.interval:
            self.enter(cell, position, "write", place)
        cell.writer, cell.writer_place = self.clock.strand, place

    def _check_arrived(self, position: int, kind: Kind, place: int) -> None:
        if position not in self.flying:
            return
        strand, where = self.flying[position][1]
        name, index = self.named(position)
        raise RaceError(
            f"race on {self.scope} {name}{list(index)}: {kind} while a copy to it is under way",
            array=name,
            cell=index,
            access=self.clock.access(kind, place),
            earlier=self.clock.access_by(strand, "write", where),
            notes=["the thread that started the copy must wait for it first"],
            operation=self.clock.operation,
        )

    def unwritten(self, position: int, kind: Kind, place: int) -> NoReturn:
        """Report a use of a cell that holds no value.

        Raises:
            UninitialisedError: always.
        """
        name, index = self.named(position)
        raise UninitialisedError(
            f"{self.scope} {name}{list(index)} is read before anything is written to it",
            array=name,
            cell=index,
            access=self.clock.access(kind, place),
            operation=self.clock.operation,
        )

    def enter(self, cell: Cell, position: int, kind: Kind, place: int) -> None:
        """Renew a cell for the running interval, at its first access there.

        Raises:
            RaceError: another block touched the cell, and one of the two accesses writes.
        """
        before, now = cell.interval, self.clock.interval
        if before is not None and self.scope == "global":
            own = cell.own = cell.own or History()
            if cell.atomics:
                own.atomic = next(iter(cell.atomics.items()))
            if cell.writer is not None and cell.writer is not ATOMIC:
                own.write = cell.writer, cell.writer_place
            if cell.reader is not None:
                own.read = cell.reader, cell.reader_place
            if before.block is not now.block:
                cell.foreign = cell.foreign or History()
                cell.foreign.take(own)
                cell.own = None
        cell.interval = now
        cell.writer = cell.reader = cell.other = None
        cell.atomics = cell.crowd = None
        if cell.foreign is not None:
            self._meet_foreign(cell, position, kind, place)

    # --- conflicts ------------------------------------------------------------------------------

    def meet_writer(self, cell: Cell, position: int, kind: Kind, place: int) -> None:
        """A plain access to a cell that another strand wrote in this interval.

        Raises:
            RaceError: nothing orders the two.
        """
        strand, writer = self.clock.strand, cell.writer
        if writer is not None and writer is not ATOMIC and not strand.is_after(writer):
            self._race(position, kind, place, (writer, cell.writer_place), "write")
        if cell.atomics is None:
            return
        if cell.foreign is not None:
            self._meet_foreign(cell, position, kind, place)
        for mark in cell.atomics.items():
            if not strand.is_after(mark[0]):
                self._race(position, kind, place, mark, "atomic update")

    def _meet_readers(self, cell: Cell, position: int, kind: Kind, place: int) -> None:
        strand = self.clock.strand
        if cell.crowd is not None:
            marks = list(cell.crowd.items())
        else:
            seen = (cell.reader, cell.reader_place), (cell.other, cell.other_place)
            marks = [(reader, where) for reader, where in seen if reader is not None]
        for mark in marks:
            if not strand.is_after(mark[0]):
                self._race(position, kind, place, mark, "read")

    def _meet_foreign(self, cell: Cell, position: int, kind: Kind, place: int) -> None:
        foreign = cell.foreign
        if foreign is None:
            return
        if foreign.write is not None:
            self._race(position, kind, place, foreign.write, "write")
        if foreign.atomic is not None and kind != "atomic update":
            self._race(position, kind, place, foreign.atomic, "atomic update")
        if foreign.read is not None and kind != "read":
            self._race(position, kind, place, foreign.read, "read")

    def _race(self, position: int, kind: Kind, place: int, mark: Mark, earlier: Kind) -> NoReturn:
        name, index = self.named(position)
        first = self.clock.access_by(mark[0], earlier, mark[1])
        second = self.clock.access(kind, place)
        if first.block == second.block:
            who = f"threads {first.thread} and {second.thread} of block {second.block}"
            note = "no barrier lies between the two accesses"
        else:
            who = f"blocks {first.block} and {second.block}"
            note = "blocks run in any order, and no barrier orders them within a launch"
        raise RaceError(
            f"race on {self.scope} {name}{list(index)}: {earlier} and {kind} by {who}",
            array=name,
            cell=index,
            access=second,
            earlier=first,
            notes=[note],
            operation=self.clock.operation,
        )

    def named(self, position: int) -> tuple[str, tuple[int, ...]]:
        """The array and the index by which messages name a cell."""
        for root in self.roots:
            index = root.find(position)
            if index is not None:
                return root.name, index
        return "memory", (position,)
