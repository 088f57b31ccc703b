"""Where arrays are made, and which of several of one name an access touches."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import takewhile

from astile.analysis.forms.params import Names
from astile.analysis.reading import hardware
from astile.analysis.reading.hardware import Seat
from astile.analysis.reading.statements import Leaf, Level
from astile.ir import nodes, query

#: The lists of statements that a statement stands in, outermost first.
_Trail = tuple[int, ...]


@dataclass(frozen=True)
class Home:
    """Where an array is made: once for each iteration of the loops around its allocation.

    Args:
        leaf: the allocation, or the first of several like it.
        scope: ``"global"``, ``"shared"`` or ``"local"``.
        depth: how many loops are around all of them.
        number: which it is of several arrays of one name.
    """

    leaf: Leaf
    scope: str
    depth: int
    number: int = 0

    @property
    def levels(self) -> tuple[Level, ...]:
        """The loops each of whose iterations has an array of its own.

        Shared memory is laid out once per block and local memory once per thread, so that
        sequential loops inside a kernel use the same cells again. An iteration of a loop whose
        iterations run in any order counts as a thread.
        """
        levels = self.leaf.place.levels[: self.depth]
        inside = next((k for k, each in enumerate(levels) if hardware.is_bound(each.loop)), None)
        if self.scope == "global" or inside is None:
            return levels
        prefix = "block." if self.scope == "shared" else ("block.", "thread.", "parallel")
        bound = [e for e in levels[inside:] if hardware.kind(e.loop).startswith(prefix)]
        return (*levels[:inside], *bound)


class Homes:
    """The homes of the arrays of a program.

    What is bound is a new array: `check_aliases` has refused all else. Where a name is bound again
    and again, as versions of a loop bind it, each access is of the array that was bound last, if
    that is told by where the statements stand. Otherwise several local arrays of one shape count
    as one that lives as long as what is around all of them.

    Args:
        function: the program.
        names: its names.
        seats: its leaf statements.
    """

    def __init__(self, function: ast.FunctionDef, names: Names, seats: Sequence[Seat]) -> None:
        self._trails = dict(_trails(function.body))
        self._bound: dict[str, list[Seat]] = {}
        for seat in seats:
            if isinstance(seat.statement, ast.AugAssign):
                continue  # changes cells of the array that there is
            for array in query.names_written(seat.statement) & names.ranks.keys():
                self._bound.setdefault(array, []).append(seat)
        self._homes = {array: self._of_name(array, seats) for array in self._bound}

    def of(self, seat: Seat, array: str) -> Home | None:
        """The home of what a statement touches by a name; None where there is not one, or unknown.

        Args:
            seat: the statement.
            array: the name.
        """
        homes = self._homes.get(array, ())
        if len(homes) < 2:
            return homes[0] if homes else None
        position = self._last_bound(seat, array)
        return None if position is None else homes[position]

    def is_unknown(self, seat: Seat, array: str) -> bool:
        """Whether the array that a statement touches is bound in a way that tells too little.

        Args:
            seat: the statement.
            array: its name.
        """
        return array in self._homes and self.of(seat, array) is None

    def _of_name(self, array: str, seats: Sequence[Seat]) -> tuple[Home | None, ...]:
        """The homes of all arrays of one name: one for each place that binds it, or one for all."""
        bound = self._bound[array]
        if len(bound) == 1:
            return (_home(bound[0]),)
        homes = [_home(each) for each in bound]
        if all(home is not None and home.scope != "shared" for home in homes):
            used = [each for each in seats if array in query.names(each.statement)]
            if all(self._last_bound(each, array) is not None for each in used):
                return tuple(
                    home and replace(home, number=number) for number, home in enumerate(homes)
                )
        return (reduce(_joined, (each.leaf for each in bound[1:]), homes[0]),)

    def _last_bound(self, seat: Seat, array: str) -> int | None:
        """Which of the statements that bind a name has done so last; None where that varies.

        It varies for ``t = t + 1``, which reads one array and makes another.
        """
        here, bound = self._trail(seat), self._bound[array]
        if seat in bound and array in query.names_read(seat.statement):
            return None
        before = [
            position
            for position, each in enumerate(bound)
            if each.leaf.number <= seat.leaf.number and _starts(here, self._trail(each))
        ]
        if not before:
            return None
        last = before[-1]
        number, around = bound[last].leaf.number, self._trail(bound[last])
        for each in bound[last + 1 :]:
            shared = _common(here, self._trail(each))
            if number < each.leaf.number < seat.leaf.number or len(shared) > len(around):
                return None
        return last

    def _trail(self, seat: Seat) -> _Trail:
        return self._trails[id(seat.statement)]


def _trails(body: Sequence[ast.stmt], around: _Trail = ()) -> Iterator[tuple[int, _Trail]]:
    """Each statement's identity and trail."""
    here = (*around, id(body))
    for statement in body:
        yield id(statement), here
        for inner in query.bodies(statement):
            yield from _trails(inner, here)


def _starts(trail: _Trail, start: _Trail) -> bool:
    return trail[: len(start)] == start


def _common(first: _Trail, second: _Trail) -> _Trail:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return tuple(each for each, _ in pairs)


def _home(seat: Seat) -> Home | None:
    """The home of what a statement binds, None for one inside another statement."""
    if not seat.leaf.is_simple:
        return None
    made = query.allocation(seat.statement)
    scope = "global" if made is None else made.scope
    return Home(seat.leaf, scope, len(seat.leaf.place.levels))


def _joined(home: Home | None, leaf: Leaf) -> Home | None:
    """The home of an array that is made in two places; None where these are not alike."""
    if home is None or not leaf.is_simple:
        return None
    made, other = query.allocation(home.leaf.node), query.allocation(leaf.node)
    if made is None or other is None or not made.scope == other.scope == "local":
        return None
    shapes = [[query.integer(each) for each in held.shape or ()] for held in (made, other)]
    if made.word != other.word or shapes[0] != shapes[1] or None in (*shapes[0], made.shape):
        return None
    if not nodes.same(made.dtype, other.dtype):
        return None
    pairs = zip(home.leaf.place.levels, leaf.place.levels, strict=False)
    around = takewhile(lambda pair: pair[0].loop is pair[1].loop, pairs)
    return replace(home, depth=min(home.depth, len(list(around))))
