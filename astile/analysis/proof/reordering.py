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
        self, reads: isl.UnionMap, expected: isl.UnionMap, values: isl.UnionMap
    ) -> Kind | None:
        """What is kept although the parts of reductions come in another order, None for nothing.

        Integers wrap around, so that their order does not matter.

        Args:
            reads: read of the new program -> read of the original.
            expected: write of the original -> read of the new program that has to get its value.
            values: the same for the values that it gets.
        """
        updates, others = updates_of(self.model), updates_of(self.other)
        whole = integral(updates, self.model)
        if whole and self._same_parts(reads, whole, integral(others, self.other)):
            return "equal"
        if self.exact or len(whole) == len(updates):
            return None
        moved = {
            name: each
            for name, each in updates.items()
            if self._is_moved(each, reads, expected, values)
        }
        # sums that keep their order are followed through copies of what is there of them so far
        for some in [moved, updates] if len(moved) < len(updates) else [updates]:
            if self._same_parts(reads, some, others):
                return "equal up to reassociation"
        return None

    def _is_moved(
        self, update: Update, reads: isl.UnionMap, expected: isl.UnionMap, values: isl.UnionMap
    ) -> bool:
        """Whether an update adds to another value of its cell than in the original."""
        foreign = foreign_reads(self.model, {update.statement.name: update})
        own = reads.intersect_range(self.model.sinks.domain().subtract(foreign)).domain()
        first, second = expected.intersect_range(own), values.intersect_range(own)
        return not self.apart(first, second).is_empty()

    def _same_parts(
        self, reads: isl.UnionMap, updates: Mapping[str, Update], others: Mapping[str, Update]
    ) -> bool:
        """Whether reductions get the same contributions, in whatever order.

        Args:
            reads: read of the new program -> read of the original.
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
        hinted = found.apply_domain(self.hints.writes)
        kept = found.subtract_domain(self.hints.writes.domain())
        reads = reads.intersect_range(foreign_reads(self.model, updates))
        values = kept.union(hinted).intersect_range(reads.domain())
        values = values.subtract_range(reads.intersect_range(before.undefined).domain())
        reads = reads.subtract_range(before.undefined)
        expected = before.values.apply_range(reads.reverse())
        return bool(self.apart(values, expected).is_empty())
