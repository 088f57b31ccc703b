"""Points of a kernel that all threads of a block reach together, and the choice among them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb

from astile.analysis.concurrency.conflicts import Conflict
from astile.analysis.reading.hardware import Seat
from astile.ir import query

#: How many sets of places are tried before the greedy choice is taken as it is.
SEARCH_LIMIT = 5000


@dataclass(frozen=True, eq=False)
class Place:
    """A point that all threads of a block reach together.

    Args:
        holder: the loop or condition whose body holds it.
        body: that body.
        index: it stands before ``body[index]``; ``len(body)`` is the end of a loop's body.
        loops: how many loops inside the kernel repeat it.
    """

    holder: ast.stmt
    body: list[ast.stmt]
    index: int
    loops: int

    @property
    def key(self) -> tuple[int, int]:
        """What tells places apart."""
        return id(self.body), self.index

    @property
    def before(self) -> ast.stmt | None:
        """The statement it stands before; None at the end of a loop's body."""
        return self.body[self.index] if self.index < len(self.body) else None


@dataclass(frozen=True)
class Step:
    """One step on the way from a kernel's root to a phase: ``body[index]`` leads to it."""

    holder: ast.stmt
    body: list[ast.stmt]
    index: int
    loops: int


def steps_to_phase(seat: Seat) -> list[Step]:
    """The way from the root of a kernel to the phase of a statement; empty inside one phase."""
    path = [*seat.path, seat.phase]
    found: list[Step] = []
    loops = 0
    for holder, child in pairwise(path):
        if isinstance(holder, ast.For):
            header = query.header(holder)
            loops += header is None or not header.kind.startswith("block.")
        for body in query.bodies(holder):
            for index, each in enumerate(body):
                if each is child:
                    found.append(Step(holder, body, index, loops))
    return found


def _places(step: Step, indices: Iterable[int]) -> list[Place]:
    return [Place(step.holder, step.body, index, step.loops) for index in indices]


def _after(steps: Sequence[Step]) -> list[Place]:
    """The places passed for sure after a phase, within the bodies of `steps`."""
    found: list[Place] = []
    for step in steps:
        end = len(step.body)
        found += _places(step, range(step.index + 1, end + (step.loops > 0)))
    return [each for each in found if each.before is not None or repeats(each.holder)]


def repeats(holder: ast.stmt) -> bool:
    """Whether a statement is a loop that one block runs through more than once."""
    header = query.header(holder) if isinstance(holder, ast.For) else None
    return header is not None and not header.kind.startswith("block.")


def _before(steps: Sequence[Step]) -> list[Place]:
    """The places passed for sure before a phase, within the bodies of `steps`."""
    return [each for step in steps for each in _places(step, range(step.index + 1))]


def candidates(conflict: Conflict) -> list[Place]:
    """The places where a barrier separates the two sides of a conflict.

    Args:
        conflict: two phases of one kernel, the first run before the second.
    """
    first, second = steps_to_phase(conflict.first.seat), steps_to_phase(conflict.second.seat)
    if conflict.carrier is not None:
        level = next(
            (k for k, step in enumerate(first) if step.holder is conflict.carrier), len(first)
        )
        return _after(first[level:]) + _before(second[level:])
    for level, (one, two) in enumerate(zip(first, second, strict=False)):
        if one.body is not two.body:
            return []
        if one.index != two.index:
            between = _places(one, range(one.index + 1, two.index + 1))
            return between + _after(first[level + 1 :]) + _before(second[level + 1 :])
    return []


def choose(crossing: Sequence[Conflict]) -> list[Place]:
    """The cheapest set of places found that separates every conflict.

    A place inside a loop costs more than any number of places outside it. Of equally good
    places the last in the text is taken, so that wrap-around barriers stand at the end of a body.

    Args:
        crossing: conflicts that each have a candidate.
    """
    places: dict[tuple[int, int], Place] = {}
    covers: dict[tuple[int, int], set[int]] = {}
    for number, conflict in enumerate(crossing):
        for place in candidates(conflict):
            places.setdefault(place.key, place)
            covers.setdefault(place.key, set()).add(number)
    every = set(range(len(crossing)))
    keys = _undominated(places, covers)
    best = _greedy(keys, places, covers, every)
    for size in range(1, len(best) + 1):
        if comb(len(keys), size) > SEARCH_LIMIT:
            break
        for chosen in combinations(keys, size):
            if set().union(*(covers[key] for key in chosen)) == every:
                best = min(best, list(chosen), key=lambda keys: _cost(keys, places))
    return [places[key] for key in best]


def _cost(keys: Sequence[tuple[int, int]], places: Mapping[tuple[int, int], Place]) -> list[int]:
    """Barriers by depth of loops, deepest first, so that lists compare as costs do."""
    depths = [places[key].loops for key in keys]
    return [depths.count(depth) for depth in range(15, -1, -1)]


def _undominated(
    places: Mapping[tuple[int, int], Place], covers: Mapping[tuple[int, int], set[int]]
) -> list[tuple[int, int]]:
    """The places that no other place of the same cost or less makes superfluous."""
    keys = list(places)
    rank = {key: position for position, key in enumerate(_textual(places))}

    def beats(one: tuple[int, int], other: tuple[int, int]) -> bool:
        if not covers[one] >= covers[other] or places[one].loops > places[other].loops:
            return False
        equal = covers[one] == covers[other] and places[one].loops == places[other].loops
        return not equal or rank[one] > rank[other]

    return [key for key in keys if not any(beats(each, key) for each in keys if each != key)]


def _textual(places: Mapping[tuple[int, int], Place]) -> list[tuple[int, int]]:
    """Places in the order of the text, as far as they share a body; others in order found."""
    bodies: dict[int, list[tuple[int, int]]] = {}
    for key in places:
        bodies.setdefault(key[0], []).append(key)
    return [key for group in bodies.values() for key in sorted(group, key=lambda k: k[1])]


def _greedy(
    keys: Sequence[tuple[int, int]],
    places: Mapping[tuple[int, int], Place],
    covers: Mapping[tuple[int, int], set[int]],
    every: set[int],
) -> list[tuple[int, int]]:
    chosen: list[tuple[int, int]] = []
    left = set(every)
    while left:
        key = max(keys, key=lambda k: (len(covers[k] & left), -places[k].loops))
        chosen.append(key)
        left -= covers[key]
    for key in list(chosen):
        others = set().union(*(covers[k] for k in chosen if k != key)) if len(chosen) > 1 else set()
        if others >= every:
            chosen.remove(key)
    return chosen
