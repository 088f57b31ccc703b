"""Value-based dataflow of whole programs, array by array.

Which write a read gets its value from depends on the accesses of one array and their order
alone. Taking arrays one at a time leaves out those that nobody writes, and for the others the
entries of the schedule in which all their accesses agree: isl looks at every entry in turn.

Where every cell of an array is written once, there is no last write to look for: the one that
there is counts, if it comes before the read. That spares the cases into which isl would cut the
reads, which are many where the cells are numbered by tiles in tiles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from astile.analysis import isl

#: Name of a tuple and its number of coordinates.
_Space = tuple[str, int]


@dataclass(frozen=True)
class Dependences:
    """Where reads get their values from.

    Args:
        must: source -> sink, of sources that hide the ones before them.
        may: source -> sink, the sources that hide nothing among them.
        without: sink -> cell, of sinks that have no source.
        maybe_without: sink -> cell, of sinks that have no source that hides others.
    """

    must: isl.UnionMap = field(repr=False)
    may: isl.UnionMap = field(repr=False)
    without: isl.UnionMap = field(repr=False)
    maybe_without: isl.UnionMap = field(repr=False)


def dependences(
    sinks: isl.UnionMap,
    sources: isl.UnionMap,
    schedule: isl.UnionMap,
    may_sources: isl.UnionMap | None = None,
    settled: Collection[str] = (),
    session: isl.Session | None = None,
) -> Dependences:
    """For each sink the last source before it that wrote its cell; see `isl.flow`.

    Args:
        sinks: access instance -> cell.
        sources: access instance -> cell; a source hides the ones before it.
        schedule: access instance -> time.
        may_sources: sources that hide nothing.
        settled: names of sinks that are left out.
        session: of the maps, where the same may be asked again: most steps leave most arrays as
            they are.
    """
    reads, writes = _by_array(sinks), _by_array(sources)
    maybe = {} if may_sources is None else _by_array(may_sources)
    times = _Times(schedule)
    nothing = isl.UnionMap.empty(sinks.get_space())
    result = Dependences(nothing, nothing, nothing, nothing)
    for array, found_reads in reads.items():
        some = [e for e in found_reads if e.get_tuple_name(isl.dim_type.in_) not in settled]
        every = [*some, *writes.get(array, ()), *maybe.get(array, ())]
        if len(every) == len(some):
            alone = _union(nothing, some)
            found = Dependences(nothing, nothing, alone, alone)
        else:
            found = _recalled(
                session,
                _union(nothing, some),
                _union(nothing, writes.get(array, ())),
                times.of(every),
                _union(nothing, maybe[array]) if array in maybe else None,
            )
        result = Dependences(
            result.must.union(found.must),
            result.may.union(found.may),
            result.without.union(found.without),
            result.maybe_without.union(found.maybe_without),
        )
    return result


def _recalled(
    session: isl.Session | None,
    sinks: isl.UnionMap,
    sources: isl.UnionMap,
    schedule: isl.UnionMap,
    may_sources: isl.UnionMap | None,
) -> Dependences:
    """The dependences of one array, from the session where they were found before."""
    if session is None:
        return _of_array(sinks, sources, schedule, may_sources)
    accesses = (sinks, sources, schedule, *([] if may_sources is None else [may_sources]))
    question = (_of_array, *(each.to_str() for each in accesses))
    return session.recalled(question, lambda: _of_array(sinks, sources, schedule, may_sources))


def _of_array(
    sinks: isl.UnionMap,
    sources: isl.UnionMap,
    schedule: isl.UnionMap,
    may_sources: isl.UnionMap | None,
) -> Dependences:
    if may_sources is None:
        must, without = _last(sinks, sources, schedule)
        return Dependences(must, must, without, without)
    found = isl.flow(sinks, sources, schedule, may_sources)
    must, without = found.get_must_dependence(), found.get_must_no_source()
    return Dependences(must, found.get_may_dependence(), without, found.get_may_no_source())


def _last(
    sinks: isl.UnionMap, sources: isl.UnionMap, schedule: isl.UnionMap
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """The last source before each sink that wrote its cell, and the sinks without one."""
    versions = _versions(sources)
    if not any(each.is_injective() for each, _ in versions):
        found = isl.flow(sinks, sources, schedule)
        return found.get_must_dependence(), found.get_must_no_source()
    must = without = isl.UnionMap.empty(sinks.get_space())
    for version, sizes in versions:
        mine = sinks.intersect_params(sizes)
        sinks = sinks.subtract(mine)
        if version.is_injective():
            last, first = _only(mine, version, schedule)
        else:
            found = isl.flow(mine, version, schedule)
            last, first = found.get_must_dependence(), found.get_must_no_source()
        must, without = must.union(last), without.union(first)
    return must, without.union(sinks)


def _versions(sources: isl.UnionMap) -> list[tuple[isl.UnionMap, isl.Set]]:
    """Sources that run at no common sizes apart from each other, and the sizes of each part."""
    found: list[tuple[isl.UnionMap, isl.Set]] = []
    for piece in isl.maps(sources):
        part, sizes = isl.UnionMap.from_map(piece), piece.params()
        for other in [each for each in found if not each[1].is_disjoint(sizes)]:
            found.remove(other)
            part, sizes = part.union(other[0]), sizes.union(other[1])
        found.append((part, sizes))
    return found


def _only(
    sinks: isl.UnionMap, sources: isl.UnionMap, schedule: isl.UnionMap
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """As `_last`, of sources none of which writes a cell of another one."""
    reads, writes = (schedule.intersect_domain(each.domain()) for each in (sinks, sources))
    pairs = sinks.apply_range(sources.reverse()).intersect(reads.lex_gt_union_map(writes))
    return pairs.reverse(), sinks.subtract(sinks.intersect_domain(pairs.domain()))


def _by_array(accesses: isl.UnionMap) -> dict[_Space, list[isl.Map]]:
    """Array -> the accesses of it; pieces that are one in truth are made one."""
    found: dict[_Space, list[isl.Map]] = {}
    for piece in isl.maps(accesses.coalesce()):
        found.setdefault(_space(piece, isl.dim_type.out), []).append(piece)
    return found


def _space(piece: isl.Map, side: isl.dim_type) -> _Space:
    return piece.get_tuple_name(side), int(piece.dim(side))


def _union(nothing: isl.UnionMap, pieces: Iterable[isl.Map]) -> isl.UnionMap:
    result = nothing
    for each in pieces:
        result = result.union(isl.UnionMap.from_map(each))
    return result


class _Times:
    """A schedule, cut to what orders some accesses.

    Args:
        schedule: access instance -> time; all times have the same length.
    """

    def __init__(self, schedule: isl.UnionMap) -> None:
        self._nothing = isl.UnionMap.empty(schedule.get_space())
        self._maps: dict[_Space, list[isl.Map]] = {}
        for piece in isl.maps(schedule):
            self._maps.setdefault(_space(piece, isl.dim_type.in_), []).append(piece)
        self._known: dict[_Space, list[tuple[int | None, ...]]] = {}

    def of(self, accesses: Iterable[isl.Map]) -> isl.UnionMap:
        """The times of accesses, without the entries in which all of them agree."""
        spaces = {_space(each, isl.dim_type.in_): None for each in accesses}
        maps = [each for space in spaces for each in self._maps.get(space, ())]
        known = [each for space in spaces for each in self._constants(space)]
        length = len(known[0]) if known else 0
        shared = [k for k in range(length) if known[0][k] is not None]
        shared = [k for k in shared if all(each[k] == known[0][k] for each in known)]
        if len(shared) == length:
            shared = shared[1:]  # a time without entries is no time
        result = self._nothing
        for each in maps:
            for position in reversed(shared):
                each = each.project_out(isl.dim_type.out, position, 1)
            result = result.union(isl.UnionMap.from_map(each))
        return result

    def _constants(self, space: _Space) -> list[tuple[int | None, ...]]:
        """For each map of a space, the entries of its times that are numbers."""
        if space not in self._known:
            self._known[space] = [isl.constants(each) for each in self._maps.get(space, ())]
        return self._known[space]
