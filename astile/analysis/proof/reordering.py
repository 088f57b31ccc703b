"""Whether reductions give the same although their parts come in another order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from astile.analysis import isl
from astile.analysis.proof.flows import Hints
from astile.analysis.proof.partials import merges_of, passed_on
from astile.analysis.proof.reductions import (
    Update,
    come_once,
    contributions,
    foreign_reads,
    integral,
    updates_of,
)
from astile.analysis.reading.model import Model

Kind = Literal["equal", "equal up to reassociation"]


@dataclass(frozen=True)
class Reordering:
    """A program and another form of it, in which updates may come in another order.

    Args:
        model: of the original.
        other: of the new program.
        hints: what the new program says about itself.
        apart: the sizes at which two relations differ.
        exact: whether the order of recognised reductions has to be kept.
    """

    model: Model
    other: Model
    hints: Hints
    apart: Callable[[isl.UnionMap, isl.UnionMap], isl.Set]
    _: KW_ONLY
    exact: bool

    def kept(
        self,
        reads: isl.UnionMap,
        values: isl.UnionMap,
        lost: isl.UnionMap,
        gained: isl.UnionMap,
    ) -> Kind | None:
        """What is kept although the parts of reductions come in another order, None for nothing.

        Integers wrap around, so that their order does not matter.

        Args:
            reads: read of the new program -> read of the original.
            values: write of the original -> read of the new program that gets its value.
            lost: the same for values that it should get, but does not.
            gained: those of `values` that it should not get.
        """
        updates, others = updates_of(self.model), updates_of(self.other)
        whole = integral(updates, self.model)
        differing = lost.range().union(gained.range())

        def same_parts(some: Mapping[str, Update], of_other: Mapping[str, Update]) -> bool:
            concerned = differing.union(self._fed_by(some, values)).universe()
            return self._same_parts(reads.intersect_domain(concerned), some, of_other)

        if whole and same_parts(whole, integral(others, self.other)):
            return "equal"
        if self.exact or len(whole) == len(updates):
            return None
        moved = {
            name: each
            for name, each in updates.items()
            if self._is_moved(each, reads, lost, gained)
        }
        # sums that keep their order are followed through copies of what is there of them so far
        for some in [moved, updates] if len(moved) < len(updates) else [updates]:
            if same_parts(some, others):
                return "equal up to reassociation"
        return None

    def _fed_by(self, updates: Mapping[str, Update], values: isl.UnionMap) -> isl.UnionSet:
        """The reads of the new program that get what an update left.

        Where the last write before a read is none, no update comes between it and the read.
        """
        writes = [each.instance for each in updates.values()]
        return values.intersect_domain(self.model.session.union_set((), writes)).range()

    def _is_moved(
        self, update: Update, reads: isl.UnionMap, lost: isl.UnionMap, gained: isl.UnionMap
    ) -> bool:
        """Whether an update adds to another value of its cell than in the original."""
        foreign = foreign_reads(self.model, {update.statement.name: update})
        own = reads.intersect_range(self.model.sinks.domain().subtract(foreign)).domain()
        first, second = lost.intersect_range(own), gained.intersect_range(own)
        return not self.apart(first, second).is_empty()

    def _same_parts(
        self, reads: isl.UnionMap, updates: Mapping[str, Update], others: Mapping[str, Update]
    ) -> bool:
        """Whether reductions get the same contributions, in whatever order.

        Args:
            reads: read of the new program -> read of the original; those may be left out that
                get what no update left, as they should.
            updates: those updates of the original whose order may change.
            others: those of the new program.
        """
        sources = {statement.name: source for source, statement, _ in self.hints.pairs}
        changed = {
            name: update
            for name, update in others.items()
            if name in sources
            and sources[name].name in updates
            and updates[sources[name].name].family == update.family
            and updates[sources[name].name].own == update.own
        }
        standing = {each.name for name, each in sources.items() if name not in changed}
        # an update of which some copy is none would be hidden in one program only
        updates = {name: each for name, each in updates.items() if name not in standing}
        changed = {name: each for name, each in changed.items() if sources[name].name in updates}
        merges = merges_of(others)
        if not updates:
            return False
        before = contributions(self.model, updates, None)
        joining = {name: each.update for name, each in merges.items()}
        after = contributions(self.other, {**changed, **joining}, self.hints)
        self.model.session.tick()
        found = passed_on(after, merges, changed, self.other)
        if found is None or not come_once(found, self.hints, changed):
            return False
        reads = reads.intersect_range(foreign_reads(self.model, updates))
        found = found.intersect_range(reads.domain())
        hinted = found.apply_domain(self.hints.writes)
        kept = found.subtract_domain(self.hints.writes.domain())
        values = kept.union(hinted)
        values = values.subtract_range(reads.intersect_range(before.undefined).domain())
        reads = reads.subtract_range(before.undefined)
        expected = before.values.apply_range(reads.reverse())
        return bool(self.apart(values, expected).is_empty())
