"""Names and local arrays: does each iteration and each thread find its own value in them?

Every thread has its own names, so a value must be read where it was written: by value-based
dataflow, the last write before each read must have been run by the same thread, or in the same
iteration of a `parallel` loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from astile.analysis import isl
from astile.analysis.proof.dataflow import dependences
from astile.analysis.reading.hardware import Kernel, Seat
from astile.analysis.reading.scene import Scene, Touch


@dataclass(frozen=True, eq=False)
class Astray:
    """A read that would not find the value that the program as written gives it.

    Args:
        write: the write of that value; None when some read has none inside the loop.
        read: the read.
        pairs: instance of the write -> instance of the read; None without a write.
    """

    write: Touch | None
    read: Touch
    pairs: isl.UnionMap | None

    @property
    def array(self) -> str:
        """The name or local array."""
        return self.read.access.array


class PrivateFlow:
    """Dataflow through names and local arrays of a program.

    Args:
        scene: the program.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._touches = [each for each in scene.touches(scene.seats) if self._is_private(each)]

    def _is_private(self, touch: Touch) -> bool:
        return touch.access.array in self.scene.private or not touch.access.indices

    @cached_property
    def _schedule(self) -> isl.UnionMap:
        return self.scene.schedule()

    def _flow(self, read: Touch, writes: Sequence[Touch]) -> tuple[isl.UnionMap, isl.UnionMap]:
        """Write -> read of the values that a read may find, and reads that may find none."""
        scene, key = self.scene, (read.seat.leaf.number, read.access.slot)
        if key not in scene.flows:
            sure = [each for each in writes if each.access.sure and each.access.is_exact]
            maybe = [each for each in writes if each not in sure]
            found = dependences(
                scene.cells([read]),
                scene.cells(sure),
                self._schedule,
                scene.cells(maybe),
                session=scene.session,
            )
            scene.session.tick()
            scene.flows[key] = found.may, found.maybe_without
        return scene.flows[key]

    def _of(self, touch: Touch) -> list[Touch]:
        return [
            each
            for each in self._touches
            if each.writes and each.access.array == touch.access.array
        ]

    def astray_in_kernel(self, kernel: Kernel, by_thread: bool = True) -> Iterator[Astray]:
        """Reads in or after a kernel of what another thread, or no thread, has.

        Args:
            kernel: the kernel.
            by_thread: whether threads of one block are told apart, or blocks only.
        """
        inside = {id(seat) for seat in kernel.seats}
        where = self.scene.hardware(kernel, by_thread)
        for read, writes in self._reads_of_written(inside):
            dependence, missing = self._flow(read, writes)
            for write in writes:
                pairs = self._between(dependence, write, read)
                if pairs.is_empty():
                    continue
                comes, goes = id(write.seat) in inside, id(read.seat) in inside
                if comes and goes:
                    pairs = _unmatched(pairs, where)
                if (comes or goes) and not pairs.is_empty():
                    yield Astray(write if comes else None, read, pairs if comes else None)
            if id(read.seat) in inside and read.access.indices == () and not missing.is_empty():
                yield Astray(None, read, None)

    def astray_in_loop(self, loop: ast.For) -> Iterator[Astray]:
        """Reads in or after a concurrent loop of a name that another iteration, or none, has.

        Local arrays are memory like any other here: iterations of such a loop share those that
        are allocated outside of it.
        """
        inside = {id(seat) for seat in self.scene.seats if loop in seat.loops}
        for read, writes in self._reads_of_written(inside):
            if read.access.indices:
                continue
            dependence, missing = self._flow(read, writes)
            for write in writes:
                pairs = self._between(dependence, write, read)
                comes, goes = id(write.seat) in inside, id(read.seat) in inside
                if comes and goes:
                    pairs = pairs.subtract(self._same_iteration(loop, write.seat, read.seat))
                if (comes or goes) and not pairs.is_empty():
                    yield Astray(write if comes else None, read, pairs if comes else None)
            if id(read.seat) in inside and read.access.indices == () and not missing.is_empty():
                yield Astray(None, read, None)

    def _reads_of_written(self, inside: set[int]) -> Iterator[tuple[Touch, list[Touch]]]:
        """Reads of what is written inside, with all writes of it."""
        for read in self._touches:
            if read.writes:
                continue
            writes = self._of(read)
            if any(id(each.seat) in inside for each in writes):
                yield read, writes

    def _between(self, dependence: isl.UnionMap, write: Touch, read: Touch) -> isl.UnionMap:
        writers = self.scene.cells([write]).domain()
        readers = self.scene.cells([read]).domain()
        return dependence.intersect_domain(writers).intersect_range(readers)

    def _same_iteration(self, loop: ast.For, write: Seat, read: Seat) -> isl.UnionMap:
        depth = write.loops.index(loop)
        mine = write.leaf.place.dimensions
        theirs = [f"other_{each}" for each in read.leaf.place.dimensions]
        equal = [f"{mine[k]} = {theirs[k]}" for k in range(depth + 1)]
        target = f"{self.scene.name(read.leaf)}[{', '.join(theirs)}]"
        source = self.scene.instance(write.leaf)
        return self.scene.map([f"{source} -> {target} : {' and '.join(equal)}"])


def _unmatched(pairs: isl.UnionMap, where: isl.UnionMap) -> isl.UnionMap:
    """The pairs whose read is run on a place where the write is not run."""
    lost = pairs.apply_range(where).subtract(where)
    if lost.is_empty():
        return lost.intersect_range(lost.range().subtract(lost.range()))
    never = pairs.subtract(where.apply_range(where.reverse()))
    return pairs.intersect_domain(lost.domain()) if never.is_empty() else never
