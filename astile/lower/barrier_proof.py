"""The proof that barriers separate conflicts, by comparing times of whole executions with isl."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from astile.analysis import isl
from astile.analysis.conflicts import Conflict
from astile.analysis.hardware import Seat
from astile.analysis.scene import Scene, forward
from astile.analysis.statements import Level
from astile.ir import query
from astile.lower.barrier_places import Place, repeats

#: A loop variable in isl text.
_DIMENSION = re.compile(r"\bv\d+_\w+")


def uncut(scene: Scene, crossing: Sequence[Conflict], places: Sequence[Place]) -> list[Conflict]:
    """The conflicts that no barrier separates, by comparing times of whole executions.

    Two accesses are separated when a barrier of the same block runs after the first and before
    the second. This is asked of every pair of iterations, and knows nothing of `candidates`.

    Args:
        scene: the program.
        crossing: pairs of accesses, the first before the second.
        places: where barriers stand.
    """
    left = []
    for each in crossing:
        first, second = _side(each.first.seat), _side(each.second.seat)
        rest = each.pairs
        for place in places:
            barrier = _barrier_side(scene, place)
            after = _before(scene, first, barrier)
            rest = rest.subtract(after.apply_range(_before(scene, barrier, second)))
        scene.session.tick()
        if not rest.is_empty():
            left.append(each)
    return left


@dataclass(frozen=True, eq=False)
class _Side:
    """Something that runs at a uniform place: a phase, or a barrier.

    Args:
        name: the isl name of its instances.
        levels: the loops around it and what is inside it.
        uniform: how many of them all threads run through together.
        statement: the statement it is, or stands before or after.
        shift: -1 before the statement, 0 for the statement, 1 after all that is inside it.
        condition: the formula of its instances; empty where the conflict has it already.
    """

    name: str
    levels: tuple[Level, ...]
    uniform: int
    statement: ast.stmt
    shift: int
    condition: str = "true"

    def is_textually_before(self, other: _Side, order: Mapping[int, int]) -> bool:
        """Whether it comes first when all loops around both are in the same iteration."""
        return self._key(order) < other._key(order)

    def _key(self, order: Mapping[int, int]) -> tuple[int, int]:
        if self.shift <= 0:
            return order[id(self.statement)], self.shift
        return max(order[id(each)] for each in query.statements(self.statement)), 1


def _side(seat: Seat) -> _Side:
    uniform = sum(isinstance(each, ast.For) for each in seat.path) + seat.host
    name = f"S{seat.leaf.number}"
    return _Side(name, seat.leaf.place.levels, uniform, seat.phase, 0)


def _barrier_side(scene: Scene, place: Place) -> _Side:
    inside = scene.survey.place(place.body[0])
    assert inside is not None
    statement, shift = (place.before, -1) if place.before is not None else (place.holder, 1)
    condition = " and ".join([*inside.constraints, "true"])
    return _Side("B", inside.levels, len(inside.levels), statement, shift, condition)


def _before(scene: Scene, one: _Side, two: _Side) -> isl.UnionMap:
    """Pairs of runs in one block of which the first comes before the second."""
    mine = [f"a{k}" for k in range(len(one.levels))]
    theirs = [f"b{k}" for k in range(len(two.levels))]
    same: list[str] = []
    cases: list[str] = []
    shared = zip(one.levels[: one.uniform], two.levels[: two.uniform], strict=False)
    for position, (level, other) in enumerate(shared):
        if level.loop is not other.loop:
            break
        first, second = mine[position], theirs[position]
        if repeats(level.loop):
            earlier, later = forward(level, first), forward(level, second)
            cases.append(" and ".join([*same, f"{earlier} < {later}"]))
        same.append(f"{first} = {second}")
    order = {id(each): k for k, each in enumerate(query.statements(scene.program.function))}
    if one.is_textually_before(two, order):
        cases.append(" and ".join([*same, "true"]))
    formulas = [f"({' or '.join(f'({each})' for each in cases) or 'false'})"]
    for side, names in ((one, mine), (two, theirs)):
        formulas.append(_renamed(side, names))
    return scene.map(
        [f"{one.name}[{', '.join(mine)}] -> {two.name}[{', '.join(theirs)}] : "
         + " and ".join(formulas)]
    )  # fmt: skip


def _renamed(side: _Side, names: Sequence[str]) -> str:
    """The formula of a side's instances over other names of its loop variables."""
    by_dimension = dict(zip((e.dimension for e in side.levels), names, strict=True))
    return _DIMENSION.sub(lambda found: by_dimension[found.group()], f"({side.condition})")
