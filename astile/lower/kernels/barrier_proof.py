"""The proof that barriers separate conflicts, by comparing times of whole executions with isl."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from astile.analysis import isl
from astile.analysis.concurrency.conflicts import Conflict
from astile.analysis.reading.hardware import Seat
from astile.analysis.reading.scene import Scene, forward
from astile.analysis.reading.statements import Level
from astile.ir import query
from astile.lower.kernels.barrier_places import Place, candidates, repeats

#: A loop variable in isl text.
_DIMENSION = re.compile(r"\bv\d+_\w+")


@dataclass(frozen=True, eq=False)
class _Side:
    """Something that all threads of a block come by together: a phase, or a barrier.

    Args:
        name: the isl name of its runs, which have one coordinate for each of its loops.
        levels: the loops around it.
        statement: the statement it is, or stands before or after.
        shift: -1 before the statement, 0 for the statement, 1 after all that is inside it.
        condition: the formula of its runs; ``true`` where the conflict has it already.
    """

    name: str
    levels: tuple[Level, ...]
    statement: ast.stmt
    shift: int
    condition: str = "true"


@dataclass(frozen=True, eq=False)
class _Crossing:
    """All conflicts between two phases over one loop, as pairs of runs of the phases."""

    first: _Side
    second: _Side
    pairs: isl.UnionMap
    conflict: Conflict


class BarrierProof:
    """Compares the times of phases and barriers of one kernel.

    Two accesses are separated when a barrier of the same block runs after the first and before
    the second. This is asked of every pair of iterations, from the loops' own ranges.

    Args:
        scene: the program.
        crossing: pairs of accesses of different threads, the first before the second.
    """

    def __init__(self, scene: Scene, crossing: Iterable[Conflict]) -> None:
        self.scene = scene
        statements = query.statements(scene.program.function)
        self._order = {id(each): number for number, each in enumerate(statements)}
        self._orders: dict[tuple[str, str], isl.UnionMap] = {}
        self._crossings = self._grouped(crossing)

    def uncut(self, places: Sequence[Place]) -> Conflict | None:
        """A conflict that no barrier separates, or None when all are separated.

        Args:
            places: where barriers stand.
        """
        barriers = {place.key: self._barrier(place) for place in places}
        for each in self._crossings:
            likely = {place.key for place in candidates(each.conflict)}
            rest = each.pairs
            for key in sorted(barriers, key=lambda key: key not in likely):
                barrier = barriers[key]
                after = self._before(each.first, barrier)
                rest = rest.subtract(after.apply_range(self._before(barrier, each.second)))
                self.scene.session.tick()
                if rest.is_empty():
                    break
            else:
                return each.conflict
        return None

    def in_textual_order(self, places: Iterable[Place]) -> list[Place]:
        """The same places, from the top of the text down."""
        return sorted(places, key=lambda place: self._moment(self._barrier(place)))

    # --- runs -----------------------------------------------------------------------------------

    def _grouped(self, crossing: Iterable[Conflict]) -> list[_Crossing]:
        found: dict[tuple[int, int, int], _Crossing] = {}
        for each in crossing:
            first, second = each.first.seat, each.second.seat
            pairs = each.pairs.apply_domain(self._runs(first)).apply_range(self._runs(second))
            key = (id(first.phase), id(second.phase), id(each.carrier))
            known = found.get(key)
            if known is not None:
                pairs = pairs.union(known.pairs).coalesce()
            found[key] = _Crossing(self._phase(first), self._phase(second), pairs, each)
            self.scene.session.tick()
        return list(found.values())

    def _phase(self, seat: Seat) -> _Side:
        count = seat.host + sum(isinstance(each, ast.For) for each in seat.path)
        name = f"P{self._order[id(seat.phase)]}"
        return _Side(name, seat.leaf.place.levels[:count], seat.phase, 0)

    def _runs(self, seat: Seat) -> isl.UnionMap:
        """Instance of a statement -> run of its phase."""
        phase = self._phase(seat)
        run = f"{phase.name}[{', '.join(level.dimension for level in phase.levels)}]"
        return self.scene.map([f"{self.scene.instance(seat.leaf)} -> {run}"])

    def _barrier(self, place: Place) -> _Side:
        inside = self.scene.survey.place(place.body[0])
        assert inside is not None
        before = place.before
        statement, shift = (before, -1) if before is not None else (place.holder, 1)
        condition = " and ".join([*inside.constraints, "true"])
        name = f"B{self._order[id(statement)]}_{'e' if before is None else 'b'}"
        return _Side(name, inside.levels, statement, shift, condition)

    # --- order ----------------------------------------------------------------------------------

    def _before(self, one: _Side, two: _Side) -> isl.UnionMap:
        """Pairs of runs in one block of which the first comes before the second."""
        key = (one.name, two.name)
        if key not in self._orders:
            self._orders[key] = self._find_order(one, two)
        return self._orders[key]

    def _find_order(self, one: _Side, two: _Side) -> isl.UnionMap:
        mine = [f"a{k}" for k in range(len(one.levels))]
        theirs = [f"b{k}" for k in range(len(two.levels))]
        same, cases = ["true"], []
        for level, other, first, second in zip(one.levels, two.levels, mine, theirs, strict=False):
            if level.loop is not other.loop:
                break
            if repeats(level.loop):
                later = f"{forward(level, first)} < {forward(level, second)}"
                cases.append(" and ".join([*same, later]))
            same.append(f"{first} = {second}")
        if self._moment(one) < self._moment(two):
            cases.append(" and ".join(same))
        ordered = " or ".join(f"({each})" for each in cases) or "false"
        source, target = f"{one.name}[{', '.join(mine)}]", f"{two.name}[{', '.join(theirs)}]"
        conditions = [f"({ordered})", _renamed(one, mine), _renamed(two, theirs)]
        return self.scene.map([f"{source} -> {target} : {' and '.join(conditions)}"])

    def _moment(self, side: _Side) -> tuple[int, int]:
        """What comes first in the text, where all loops around both are in the same iteration."""
        if side.shift <= 0:
            return self._order[id(side.statement)], side.shift
        return max(self._order[id(each)] for each in query.statements(side.statement)), 1


def _renamed(side: _Side, names: Sequence[str]) -> str:
    """The formula of a side's runs over other names of its loop variables."""
    named: Mapping[str, str] = {
        level.dimension: name for level, name in zip(side.levels, names, strict=True)
    }
    return _DIMENSION.sub(lambda found: named[found.group()], f"({side.condition})")
