"""Reductions in parts: partial results that a rewrite joins, as if all were added to one cell.

A rewrite that gives each lane a partial result adds a statement ``s += part[k]`` which the
original does not have. Such a *merge* passes on the contributions to ``part[k]``, provided that
this cell started with what changes nothing, and that no contribution is passed on twice.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from astile.analysis import isl
from astile.analysis.proof.reductions import IDEMPOTENT, Contributions, Update
from astile.analysis.reading.accesses import Access
from astile.analysis.reading.model import Model

#: What changes nothing when a family joins it to something: cells made by these words.
_NEUTRAL = {
    "sum": "zeros",
    "product": "ones",
    "bitwise or": "zeros",
    "bitwise exclusive or": "zeros",
}


@dataclass(frozen=True)
class Merge:
    """A statement of the new program alone that joins a partial result to a cell.

    Args:
        update: the statement as an update of the cell.
        part: its read of the partial result.
    """

    update: Update
    part: Access

    @property
    def read(self) -> str:
        """The isl tuple of the read of the partial result."""
        return self.update.statement.instance(self.part)

    @property
    def write(self) -> str:
        """The isl tuple of the write."""
        return self.update.instance


def merges_of(updates: Mapping[str, Update]) -> dict[str, Merge]:
    """The merges among the updates of a new program.

    Args:
        updates: name of the statement -> the statement as an update.
    """
    found = {}
    for name, update in updates.items():
        statement = update.statement
        parts = [each for each in statement.reads if each.slot not in update.own]
        is_added = statement.leaf.origin is None and statement.is_exact
        if is_added and len(parts) == 1 and _only_joins(statement.leaf.node):
            found[name] = Merge(update, parts[0])
    return found


def _only_joins(node: ast.stmt) -> bool:
    """Whether a statement joins a cell or name to another as it is."""
    match node:
        case ast.AugAssign(op=ast.Sub()):
            return False
        case ast.AugAssign(value=ast.Name() | ast.Subscript()):
            return True
        case ast.Assign(value=ast.Call(args=[ast.Name() | ast.Subscript(), second])):
            return isinstance(second, (ast.Name, ast.Subscript))
    return False


def passed_on(
    found: Contributions,
    merges: Mapping[str, Merge],
    updates: Mapping[str, Update],
    model: Model,
) -> isl.UnionMap | None:
    """What every read gets, with merges seen through; None when a value would count twice.

    Args:
        found: what every read gets, merges among it.
        merges: the merges.
        updates: the updates that stand for statements of the original.
        model: the model of the new program.
    """
    session = model.session
    values = found.values
    reads = session.union_set(model.parameters, [each.read for each in merges.values()])
    writes = session.union_set(model.parameters, [each.write for each in merges.values()])
    if not found.undefined.intersect(reads).is_empty():
        return None
    parts = values.intersect_range(reads)
    for _ in range(len(merges) + 1):
        through = values.intersect_domain(writes)
        if through.is_empty():
            return values
        values = values.subtract_domain(writes)
        for merge in merges.values():
            session.tick()
            joined = _joined(merge, parts, through, merges, updates, model)
            if joined is None:
                return None
            counts = merge.update.family not in IDEMPOTENT
            if counts and not joined.intersect(values).is_empty():
                return None
            values = values.union(joined)
    return None


def _joined(
    merge: Merge,
    parts: isl.UnionMap,
    through: isl.UnionMap,
    merges: Mapping[str, Merge],
    updates: Mapping[str, Update],
    model: Model,
) -> isl.UnionMap | None:
    """What reads get by way of one merge; None when it is not of the merge's kind, or twice."""
    session, family = model.session, merge.update.family
    every = [*updates.values(), *(each.update for each in merges.values())]
    alike = [each.instance for each in every if each.family == family]
    others = [each.instance for each in every if each.family != family]
    own = session.union_set(model.parameters, [merge.read])
    given = parts.intersect_range(own)
    if family in IDEMPOTENT:
        if not given.intersect_domain(session.union_set(model.parameters, others)).is_empty():
            return None
    else:
        given = given.subtract_domain(_neutral(family, model))
        foreign = given.subtract_domain(session.union_set(model.parameters, alike))
        if not foreign.is_empty():
            return None
    onwards = session.union_map(model.parameters, [f"{merge.read} -> {merge.write}"])
    given = given.apply_range(onwards)  # contribution -> write of the merge
    taken = through.intersect_domain(session.union_set(model.parameters, [merge.write]))
    if family not in IDEMPOTENT:
        ways = given.domain_map().range_product(given.range_map().apply_range(taken))
        if not ways.is_injective():
            return None
    return given.apply_range(taken)


def _neutral(family: str, model: Model) -> isl.UnionSet:
    """The tokens of cells that hold what changes nothing."""
    word = _NEUTRAL.get(family, "")
    every = model.tokens.range().get_set_list()
    result = model.session.union_set((), [])
    for position in range(every.n_set()):
        each = every.get_at(position)
        if word and each.get_tuple_name().startswith(f"F_{word}_"):
            result = result.union(each.to_union_set())
    return result
