"""Questions for the last writes before reads, worded alike where they are alike.

A step changes some statements of a program. The others keep their accesses, but are often numbered
anew, and stand at other positions among the statements around them. Neither matters for which
write a read gets its value from: a question names its accesses by their order and says of positions
only how they compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from astile.analysis import isl

#: Name of a tuple and its number of coordinates.
Space = tuple[str, int]

#: An entry of a time: a number, or an expression of isl.
_Entry = int | str

_TIME = re.compile(r"(?:\[[^]]*\] -> )?\{ \w*\[([^]]*)\] -> \[([^]]*)\] \}")
_NAME = re.compile(r"[A-Za-z_]\w*'*")
_NUMBER = re.compile(r"\d+")
_INTEGER = re.compile(r"-?\d+")


def space(piece: isl.Map, side: isl.dim_type) -> Space:
    """The tuple of one side of a map."""
    return piece.get_tuple_name(side) or "", int(piece.dim(side))


class Times:
    """A schedule, cut to what orders some accesses.

    Args:
        schedule: access instance -> time; all times have the same length.
    """

    def __init__(self, schedule: isl.UnionMap) -> None:
        #: No times.
        self.nothing = isl.UnionMap.empty(schedule.get_space())
        self._maps: dict[Space, list[isl.Map]] = {}
        for piece in isl.maps(schedule):
            self._maps.setdefault(space(piece, isl.dim_type.in_), []).append(piece)
        self._known: dict[Space, list[tuple[int | None, ...]]] = {}
        self._entries: dict[Space, tuple[_Entry, ...] | None] = {}

    def of(self, accesses: Iterable[isl.Map]) -> isl.UnionMap:
        """The times of accesses, without the entries in which all of them agree."""
        spaces = {space(each, isl.dim_type.in_): None for each in accesses}
        maps = [each for space in spaces for each in self._maps.get(space, ())]
        known = [each for space in spaces for each in self._constants(space)]
        length = len(known[0]) if known else 0
        shared = [k for k in range(length) if known[0][k] is not None]
        shared = [k for k in shared if all(each[k] == known[0][k] for each in known)]
        if len(shared) == length:
            shared = shared[1:]  # a time without entries is no time
        result = self.nothing
        for each in maps:
            for position in reversed(shared):
                each = each.project_out(isl.dim_type.out, position, 1)
            result = result.union(isl.UnionMap.from_map(each))
        return result

    def order(self, accesses: Sequence[isl.Map]) -> tuple[tuple[_Entry, ...], ...] | None:
        """How the times of accesses compare: equal for accesses whose times compare alike.

        None where the times of some access are more than one expression for each entry.

        Args:
            accesses: the accesses; the result has an item for each of them.
        """
        times = [self._expressions(space(each, isl.dim_type.in_)) for each in accesses]
        known = [each for each in times if each is not None]
        if len(known) < len(times):
            return None
        columns: list[Sequence[_Entry]] = []
        for column in zip(*known, strict=True):
            numbers = sorted({each for each in column if isinstance(each, int)})
            if any(isinstance(each, str) for each in column):
                columns.append(column)
            elif len(numbers) > 1:  # only the order of numbers matters
                columns.append([numbers.index(each) for each in column if isinstance(each, int)])
        return tuple(zip(*columns, strict=True)) if columns else ((),) * len(times)

    def _constants(self, space: Space) -> list[tuple[int | None, ...]]:
        """For each map of a space, the entries of its times that are numbers."""
        if space not in self._known:
            self._known[space] = [isl.constants(each) for each in self._maps.get(space, ())]
        return self._known[space]

    def _expressions(self, space: Space) -> tuple[_Entry, ...] | None:
        if space not in self._entries:
            maps = self._maps.get(space, ())
            self._entries[space] = _entries(maps[0].to_str()) if len(maps) == 1 else None
        return self._entries[space]


@dataclass(frozen=True)
class Question:
    """What the dependences of one sink depend on.

    Args:
        text: equal for questions that have the same answer but for the names of accesses.
        names: of the accesses, in the order in which the text has them.
    """

    text: tuple[object, ...]
    names: tuple[str, ...]


class Asker:
    """Words questions about sinks that read cells of the same sources.

    Args:
        sources: accesses that hide the ones before them.
        may_sources: accesses that hide nothing.
        times: when accesses happen.
    """

    def __init__(
        self, sources: Sequence[isl.Map], may_sources: Sequence[isl.Map], times: Times
    ) -> None:
        self._times = times
        self._sources = (*sorted(sources, key=_number), *sorted(may_sources, key=_number))
        self._words = (len(sources), *map(_worded, self._sources))
        self._names = tuple(space(each, isl.dim_type.in_)[0] for each in self._sources)

    def question(self, sink: isl.Map) -> Question | None:
        """The question for one sink; None where it cannot be told from others.

        Args:
            sink: access instance -> cell.
        """
        order = self._times.order((sink, *self._sources))
        if order is None:
            return None
        names = (space(sink, isl.dim_type.in_)[0], *self._names)
        same = tuple(map(names.index, names))
        return Question((Asker, _worded(sink), *self._words, order, same), names)


def _number(access: isl.Map) -> tuple[list[int], str]:
    """Sorts accesses of one program in the order of its statements."""
    name = space(access, isl.dim_type.in_)[0]
    return [int(each) for each in _NUMBER.findall(name)], name


def _worded(access: isl.Map) -> str:
    """An access without the names of it, of its coordinates, and of parameters of others."""
    name = space(access, isl.dim_type.in_)[0]
    text = access.to_str().partition("{")[2].replace(f" {name}[", " [")
    return _positional(text, text.partition("[")[2].partition("]")[0]) or text


def _positional(text: str, coordinates: str) -> str | None:
    """A text with coordinates as numbers; None where some are not just names."""
    names = coordinates.split(", ") if coordinates else []
    if not all(map(_NAME.fullmatch, names)):
        return None
    places = {name: f"#{position}" for position, name in enumerate(names)}
    return _NAME.sub(lambda name: places.get(name[0], name[0]), text)


def _entries(text: str) -> tuple[_Entry, ...] | None:
    """The entries of a time, with coordinates as numbers; None where it is not one tuple."""
    found = _TIME.fullmatch(text)
    positional = None if found is None else _positional(found[2], found[1])
    if positional is None:
        return None
    entries = positional.split(", ")
    return tuple(int(each) if _INTEGER.fullmatch(each) else each for each in entries)
