"""Value-based dataflow of whole programs, array by array.

Which write a read gets its value from depends on the accesses of one array and their order
alone. Taking arrays one at a time leaves out those that nobody writes, and for the others the
entries of the schedule in which all their accesses agree: isl looks at every entry in turn.

Where every cell of an array is written once, there is no last write to look for: the one that
there is counts, if it comes before the read. That spares the cases into which isl would cut the
reads, which are many where the cells are numbered by tiles in tiles.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from astile.analysis import isl
from astile.analysis.proof.questions import Asker, Question, Space, Times, space


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

    @classmethod
    def plain(cls, must: isl.UnionMap, without: isl.UnionMap) -> Dependences:
        """The dependences where all sources hide the ones before them."""
        return cls(must, must, without, without)

    @property
    def is_plain(self) -> bool:
        """Whether all sources are known to hide the ones before them."""
        return self.may is self.must and self.maybe_without is self.without

    def joined(self, other: Dependences) -> Dependences:
        """These and the dependences of other sinks."""
        must, without = self.must.union(other.must), self.without.union(other.without)
        if self.is_plain and other.is_plain:
            return Dependences.plain(must, without)
        maybe_without = self.maybe_without.union(other.maybe_without)
        return Dependences(must, self.may.union(other.may), without, maybe_without)

    def renamed(self, names: Mapping[str, str]) -> Dependences:
        """The same for accesses of other names.

        Args:
            names: name -> other name.
        """
        if all(name == other for name, other in names.items()):
            return self
        must, without = _renamed(self.must, names), _renamed(self.without, names)
        if self.is_plain:
            return Dependences.plain(must, without)
        may, maybe_without = _renamed(self.may, names), _renamed(self.maybe_without, names)
        return Dependences(must, may, without, maybe_without)


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
    times = Times(schedule)
    nothing = isl.UnionMap.empty(sinks.get_space())
    result = Dependences.plain(nothing, nothing)
    for array, found_reads in reads.items():
        some = [e for e in found_reads if e.get_tuple_name(isl.dim_type.in_) not in settled]
        certain, others = writes.get(array, ()), maybe.get(array, ())
        if certain or others:
            found = _recalled(session, some, certain, others, times)
        else:
            found = Dependences.plain(nothing, _union(nothing, some))
        result = result.joined(found)
    return result


def _recalled(
    session: isl.Session | None,
    sinks: Sequence[isl.Map],
    sources: Sequence[isl.Map],
    may_sources: Sequence[isl.Map],
    times: Times,
) -> Dependences:
    """The dependences of one array, from the session for sinks whose were found before."""
    nothing = times.nothing

    def found(some: Sequence[isl.Map]) -> Dependences:
        return _of_array(
            _union(nothing, some),
            _union(nothing, sources),
            times.of([*some, *sources, *may_sources]),
            _union(nothing, may_sources) if may_sources else None,
        )

    if session is None:
        return found(sinks)
    asker = Asker(sources, may_sources, times)
    asked = [(each, asker.question(each)) for each in sinks]
    new = [each for each, question in asked if not (question and session.knows(question.text))]
    answers = _by_sink(found(new), new) if new else {}
    result = Dependences.plain(nothing, nothing)
    for each, question in asked:
        answer = answers.get(space(each, isl.dim_type.in_))
        if question is not None:
            answer = _kept(session, question, answer)
        assert answer is not None
        result = result.joined(answer)
    return result


def _kept(session: isl.Session, question: Question, answer: Dependences | None) -> Dependences:
    """The answer to a question, from the session where it is known, in its own names."""
    known, names = session.recalled(question.text, lambda: (answer, question.names))
    assert known is not None
    return known.renamed(dict(zip(names, question.names, strict=True)))


def _by_sink(found: Dependences, sinks: Sequence[isl.Map]) -> dict[Space, Dependences]:
    """Sink -> its dependences."""
    spaces = [space(each, isl.dim_type.in_) for each in sinks]
    if len(spaces) == 1:
        return {spaces[0]: found}
    must, without = (
        _parted(found.must, isl.dim_type.out, spaces),
        _parted(found.without, isl.dim_type.in_, spaces),
    )
    if found.is_plain:
        return {each: Dependences.plain(must[each], without[each]) for each in spaces}
    may = _parted(found.may, isl.dim_type.out, spaces)
    maybe_without = _parted(found.maybe_without, isl.dim_type.in_, spaces)
    return {
        each: Dependences(must[each], may[each], without[each], maybe_without[each])
        for each in spaces
    }


def _parted(
    relation: isl.UnionMap, side: isl.dim_type, spaces: Sequence[Space]
) -> dict[Space, isl.UnionMap]:
    """The parts of a relation by the tuple on one side."""
    parts: dict[Space, list[isl.Map]] = {each: [] for each in spaces}
    for piece in isl.maps(relation):
        parts[space(piece, side)].append(piece)
    nothing = isl.UnionMap.empty(relation.get_space())
    return {each: _union(nothing, pieces) for each, pieces in parts.items()}


def _renamed(relation: isl.UnionMap, names: Mapping[str, str]) -> isl.UnionMap:
    result = isl.UnionMap.empty(relation.get_space())
    for piece in isl.maps(relation):
        for side, name in zip(
            (isl.dim_type.in_, isl.dim_type.out), isl.tuple_names(piece), strict=True
        ):
            if names.get(name, name) != name:
                piece = piece.set_tuple_name(side, names[name])
        result = result.union(isl.UnionMap.from_map(piece))
    return result


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


def _by_array(accesses: isl.UnionMap) -> dict[Space, list[isl.Map]]:
    """Array -> the accesses of it; pieces that are one in truth are made one."""
    found: dict[Space, list[isl.Map]] = {}
    for piece in isl.maps(accesses.coalesce()):
        found.setdefault(space(piece, isl.dim_type.out), []).append(piece)
    return found


def _union(nothing: isl.UnionMap, pieces: Iterable[isl.Map]) -> isl.UnionMap:
    result = nothing
    for each in pieces:
        result = result.union(isl.UnionMap.from_map(each))
    return result
