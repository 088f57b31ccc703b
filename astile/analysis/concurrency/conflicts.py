"""Pairs of accesses of one cell by different threads or blocks, one of them writing.

`across_blocks` and `within_phase` are pairs that nothing can order. `between_phases` are pairs
that a barrier orders, in the order in which the program runs them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from astile.analysis import isl
from astile.analysis.reading.hardware import CONCURRENT, Kernel, Seat, kind
from astile.analysis.reading.scene import Scene, Touch, forward
from astile.ir import query


@dataclass(frozen=True, eq=False)
class Conflict:
    """Two accesses that meet.

    Args:
        first: the access that the program as written runs first, where that is known.
        second: the other one.
        carrier: the loop over whose iterations they are apart, None within one iteration.
        pairs: instance of the first -> instance of the second.
    """

    first: Touch
    second: Touch
    carrier: ast.For | None
    pairs: isl.UnionMap

    @property
    def array(self) -> str:
        """The array they meet on."""
        return self.first.access.array

    @property
    def kind(self) -> str:
        """``"flow"`` for a write then a read, ``"anti"`` for the reverse, else ``"output"``."""
        if self.first.writes:
            return "output" if self.second.writes else "flow"
        return "anti"

    @property
    def is_certain(self) -> bool:
        """Whether both touch cells that are known exactly."""
        return self.first.access.is_exact and self.second.access.is_exact


class KernelConflicts:
    """The conflicts inside one kernel.

    Args:
        scene: the program.
        kernel: one of its kernels.
    """

    def __init__(self, scene: Scene, kernel: Kernel) -> None:
        self.scene, self.kernel = scene, kernel
        self._where = scene.hardware(kernel)
        self._ends = self._where.reverse()

    @cached_property
    def _meetings(self) -> list[Conflict]:
        """Pairs of touches of one cell of memory that threads share, each pair in one order."""
        shared = [each for each in self.scene.touches(self.kernel.seats) if self._is_shared(each)]
        return list(meetings(self.scene, shared))

    def _is_shared(self, touch: Touch) -> bool:
        return bool(touch.access.indices) and touch.access.array not in self.scene.private

    def _on(self, other: isl.UnionMap, meetings: Iterable[Conflict]) -> Iterator[Conflict]:
        """Those of some meetings whose two sides run on places related by `other`."""
        session, apart, ends = self.scene.session, self._where.apply_range(other), self._ends
        places = self._where.to_str(), other.to_str()
        for each in meetings:
            pairs = session.recalled(
                (KernelConflicts, *places, each.pairs.to_str()),
                partial(_related, each.pairs, apart, ends),
            )
            session.tick()
            if not pairs.is_empty():
                yield Conflict(each.first, each.second, None, pairs)

    @cached_property
    def across_blocks(self) -> list[Conflict]:
        """Conflicts between different blocks of one launch."""
        return list(self._on(self.scene.other_blocks(self.kernel), self._meetings))

    @cached_property
    def _across_threads(self) -> list[Conflict]:
        return list(self._on(self.scene.other_threads(self.kernel), self._meetings))

    @cached_property
    def within_phase(self) -> list[Conflict]:
        """Conflicts between threads of one block inside one run of one phase."""
        return list(self._on(self.scene.other_threads(self.kernel), self._in_one_phase()))

    def _in_one_phase(self) -> Iterator[Conflict]:
        """The meetings within one run of one phase."""
        for each in self._meetings:
            first, second = each.first.seat, each.second.seat
            if first.phase is second.phase:
                pairs = each.pairs.intersect(self._order(first, second, None))
                if not pairs.is_empty():
                    yield Conflict(each.first, each.second, None, pairs)

    @cached_property
    def between_phases(self) -> list[Conflict]:
        """Conflicts between threads of one block that a barrier can order."""
        found: list[Conflict] = []
        for each in self._across_threads:
            found += self._ordered(each)
            back = Conflict(each.second, each.first, None, each.pairs.reverse())
            if each.first is not each.second:
                found += self._ordered(back)
        return found

    def _ordered(self, conflict: Conflict) -> Iterator[Conflict]:
        """The parts of a conflict in which its first side runs before the second."""
        first, second = conflict.first.seat, conflict.second.seat
        for loop in common_loops(first, second):
            pairs = conflict.pairs.intersect(self._order(first, second, loop))
            if not pairs.is_empty():
                yield Conflict(conflict.first, conflict.second, loop, pairs)
        before = first.leaf.number < second.leaf.number
        if first.phase is not second.phase and before:
            pairs = conflict.pairs.intersect(self._order(first, second, None))
            if not pairs.is_empty():
                yield Conflict(conflict.first, conflict.second, None, pairs)

    def _order(self, first: Seat, second: Seat, carrier: ast.For | None) -> isl.UnionMap:
        """Pairs equal in the common uniform loops outside `carrier` and increasing in it."""
        one, two = first.leaf, second.leaf
        mine = one.place.dimensions
        theirs = [f"other_{each}" for each in two.place.dimensions]
        formulas = ["true"]
        for position, loop in enumerate(first.loops):
            if loop not in common_loops(first, second):
                continue
            level = one.place.levels[position]
            if loop is carrier:
                earlier, later = forward(level, mine[position]), forward(level, theirs[position])
                formulas.append(f"{earlier} < {later}")
                break
            formulas.append(f"{mine[position]} = {theirs[position]}")
        target = f"{self.scene.name(two)}[{', '.join(theirs)}]"
        return self.scene.map(
            [f"{self.scene.instance(one)} -> {target} : {' and '.join(formulas)}"]
        )


def _related(met: isl.UnionMap, apart: isl.UnionMap, ends: isl.UnionMap) -> isl.UnionMap:
    """The pairs of a meeting whose two sides run on places that are related.

    Args:
        met: the pairs.
        apart: instance -> places that are related to its own.
        ends: place -> what runs there.
    """
    first, second = met.domain(), met.range()
    return met.intersect(apart.intersect_domain(first).apply_range(ends.intersect_range(second)))


def common_loops(first: Seat, second: Seat) -> list[ast.For]:
    """The loops inside a kernel that two statements share and all threads run through together.

    Loops over blocks are left out: one block has one iteration of them.
    """
    found = []
    for one, two in zip(first.path, second.path, strict=False):
        if one is not two:
            break
        if isinstance(one, ast.For) and not kind(one).startswith("block."):
            found.append(one)
    return found


def meetings(scene: Scene, touches: Sequence[Touch]) -> Iterator[Conflict]:
    """Pairs of touches of one cell, at least one of them a write."""
    cells = [scene.cells([each]) for each in touches]
    for position, one in enumerate(touches):
        for later in range(position, len(touches)):
            two = touches[later]
            if one.access.array != two.access.array or not (one.writes or two.writes):
                continue
            scene.session.tick()
            pairs = cells[position].apply_range(cells[later].reverse())
            if not pairs.is_empty():
                yield Conflict(one, two, None, pairs)


def of_iterations(scene: Scene, loop: ast.For) -> list[Conflict]:
    """Conflicts between different iterations of a `parallel` or `vector` loop."""
    inside = [seat for seat in scene.seats if loop in seat.loops]
    arrays = [each for each in scene.touches(inside) if each.access.indices]
    found = []
    for each in meetings(scene, arrays):
        pairs = each.pairs.intersect(_other_iteration(scene, loop, each))
        if not pairs.is_empty():
            found.append(Conflict(each.first, each.second, loop, pairs))
    return found


def _other_iteration(scene: Scene, loop: ast.For, conflict: Conflict) -> isl.UnionMap:
    one, two = conflict.first.seat.leaf, conflict.second.seat.leaf
    depth = conflict.first.seat.loops.index(loop)
    mine = one.place.dimensions
    theirs = [f"other_{each}" for each in two.place.dimensions]
    formulas = [f"{mine[k]} = {theirs[k]}" for k in range(depth)]
    formulas.append(f"{mine[depth]} != {theirs[depth]}")
    target = f"{scene.name(two)}[{', '.join(theirs)}]"
    return scene.map([f"{scene.instance(one)} -> {target} : {' and '.join(formulas)}"])


def concurrent(function: ast.FunctionDef) -> list[ast.For]:
    """The `parallel` and `vector` loops of a function."""
    return [loop for loop in query.loops(function) if kind(loop) in CONCURRENT]
