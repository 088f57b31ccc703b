"""Dependences of a program: which iterations meet in a cell, and how far apart they are.

These are of memory: every two accesses to one cell of which one writes. The proof looks at values
instead; dependences serve messages and the search for legal schedules.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from astile.analysis import isl
from astile.analysis.proof.flows import original_flow
from astile.analysis.proof.reach import Reach
from astile.analysis.reading.accesses import Access
from astile.analysis.reading.model import Model, Statement
from astile.analysis.reading.statements import Level

DependenceKind = Literal["flow", "anti", "output"]

_SIGNS = {"<": "> 0", "=": "= 0", ">": "< 0"}
_TUPLE = re.compile(r"^[ST](\d+)(.*)$")


@dataclass(frozen=True)
class Dependence:
    """Iterations of two statements that meet in cells of one array, the first one before.

    Args:
        kind: ``flow`` (write, then read), ``anti`` (read, then write), ``output`` (two writes).
        array: the array or scalar.
        first: the statement that runs first.
        second: the statement that runs second.
        loops: the loops around both, outermost first.
        distances: differences of the trips of these loops, as a set.
    """

    kind: DependenceKind
    array: str
    first: Statement
    second: Statement
    loops: tuple[Level, ...]
    distances: isl.Set = field(repr=False, compare=False)

    @property
    def distance(self) -> tuple[int | None, ...]:
        """The distance in each loop, None where it varies."""
        return tuple(_only_value(self.distances, axis) for axis in range(len(self.loops)))

    @property
    def directions(self) -> frozenset[tuple[str, ...]]:
        """The direction vectors that occur: ``<`` for a later trip, ``=``, ``>``."""
        return frozenset(
            signs
            for signs in itertools.product("<=>", repeat=len(self.loops))
            if not _with_signs(self.distances, [_SIGNS[each] for each in signs]).is_empty()
        )


@dataclass(frozen=True)
class Uninitialised:
    """A read of what nobody may have written.

    Args:
        statement: the statement that reads.
        access: the read.
        always: whether no iteration, at no size, finds a value; else some do.
    """

    statement: Statement
    access: Access
    always: bool


def dependences(model: Model) -> tuple[Dependence, ...]:
    """The dependences between the statements of a model.

    Args:
        model: the model; what stands for the outside world is left out.

    Raises:
        isl.Error: when isl fails.
    """
    before = model.schedule.lex_lt_union_map(model.schedule)
    pairs: tuple[tuple[DependenceKind, isl.UnionMap, isl.UnionMap], ...] = (
        ("flow", model.sources, model.sinks),
        ("anti", model.sinks, model.sources),
        ("output", model.sources, model.sources),
    )
    found: dict[tuple[str, str, str, str], Dependence] = {}
    for kind, first, second in pairs:
        relation = first.apply_range(second.reverse()).intersect(before)
        for piece in isl.maps(relation):
            for each in _dependence(model, kind, piece):
                key = (kind, each.array, each.first.name, each.second.name)
                known = found.get(key)
                if known is not None:
                    merged = known.distances.union(each.distances).coalesce()
                    each = Dependence(kind, each.array, each.first, each.second, each.loops, merged)
                found[key] = each
    return tuple(found.values())


def find_uninitialised(model: Model) -> tuple[Uninitialised, ...]:
    """The reads of cells and scalars that nobody may have written before.

    Args:
        model: model of a function as written.

    Raises:
        isl.Error: when isl fails.
    """
    reach = Reach(model)
    undefined = original_flow(model).undefined
    found = []
    for statement in model.statements:
        for access in statement.reads:
            if access.node is None or not access.sure:
                continue
            reads = model.session.union_set((), [statement.instance(access)])
            if not reach.possible(undefined.intersect(reads).params()).is_empty():
                defined = model.sinks.domain().intersect(reads).subtract(undefined)
                always = bool(reach.possible(defined.params()).is_empty())
                found.append(Uninitialised(statement, access, always))
    return tuple(found)


def _dependence(model: Model, kind: DependenceKind, piece: isl.Map) -> Iterator[Dependence]:
    ends = [_end(model, name) for name in isl.tuple_names(piece)]
    if ends[0] is None or ends[1] is None:
        return
    (first, access), (second, _) = ends[0], ends[1]
    if access.array.startswith("<"):
        return
    loops: list[Level] = []
    for one, other in zip(first.leaf.place.levels, second.leaf.place.levels, strict=False):
        if one.loop is not other.loop:
            break
        loops.append(one)
    distances = _distances(piece, [level.step for level in loops])
    yield Dependence(kind, access.array, first, second, tuple(loops), distances)


def _end(model: Model, name: str) -> tuple[Statement, Access] | None:
    """The statement and access of an isl tuple; None for the end of the function."""
    found = _TUPLE.match(name)
    if found is None:
        return None
    statement = model.statements[int(found.group(1))]
    for access in (*statement.reads, *statement.writes):
        if access.slot == found.group(2):
            return statement, access
    return None


def _distances(relation: isl.Map, steps: Sequence[int]) -> isl.Set:
    """How many trips lie between the two ends of a map in the first dimensions of both.

    Args:
        relation: the map; its tuples may be longer.
        steps: step of the loop of each dimension that counts.
    """
    count = len(steps)
    for side in (isl.dim_type.in_, isl.dim_type.out):
        extra = int(relation.dim(side)) - count
        relation = relation.project_out(side, count, extra).reset_tuple_id(side)
    values = [f"d{axis}" for axis in range(count)]
    trips = [f"t{axis}" for axis in range(count)]
    scaled = [f"{v} = {step} * {t}" for v, step, t in zip(values, steps, trips, strict=True)]
    text = f"{{ [{', '.join(values)}] -> [{', '.join(trips)}] : {' and '.join(scaled) or 'true'} }}"
    return relation.deltas().apply(isl.Map.read_from_str(relation.get_ctx(), text))


def _only_value(values: isl.Set, axis: int) -> int | None:
    """The value of one coordinate when all points agree on it, else None."""
    low, high = values.dim_min_val(axis), values.dim_max_val(axis)
    return isl.integer(low) if low.is_int() and low.eq(high) else None


def _with_signs(values: isl.Set, signs: Sequence[str]) -> isl.Set:
    """The points whose coordinates compare so with zero: ``> 0``, ``= 0``, ``< 0``."""
    names = [f"d{axis}" for axis in range(len(signs))]
    wanted = " and ".join(f"{n} {sign}" for n, sign in zip(names, signs, strict=True)) or "true"
    text = f"{{ [{', '.join(names)}] : {wanted} }}"
    return values.intersect(isl.Set.read_from_str(values.get_ctx(), text))
