"""Concrete iterations that show why a new program may compute something else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from astile.analysis import isl
from astile.analysis.forms.affine_sets import mangled, parameters_in
from astile.analysis.forms.params import readable
from astile.analysis.proof.flows import Flow, Hints
from astile.analysis.proof.verdicts import ConflictKind, Instance, Witness
from astile.analysis.reading.accesses import CONTROL, EFFECTS, RETURN
from astile.analysis.reading.domains import array_name
from astile.analysis.reading.model import Model, Statement
from astile.analysis.reading.statements import Level
from astile.ir import nodes, query
from astile.source import Span

#: The sizes that are tried for a witness, smallest first; None is any size.
_LIMITS = (1, 2, 3, 4, 6, 9, 17, 33, 70, 200, None)
_NAME = re.compile(r"^([ST])(\d+)(.*)$")
#: The length of an axis as a parameter.
_EXTENT = re.compile(r"^s\d+_")


@dataclass(frozen=True)
class Point:
    """A tuple of an isl set with its coordinates."""

    name: str
    at: tuple[int, ...]

    @property
    def text(self) -> str:
        """The point in isl's notation."""
        return f"{self.name}[{', '.join(map(str, self.at))}]"


class Explorer:
    """Looks at single points of the relations of one comparison.

    Args:
        original: model of the original.
        new: model of the new program.
        hints: what the new program says about itself.
        flow: flow of the original.
        new_flow: flow of the new program in terms of the original.
    """

    def __init__(self, original: Model, new: Model, hints: Hints, flow: Flow, found: Flow) -> None:
        self.original, self.new, self.hints = original, new, hints
        self.flow, self.found = flow, found
        self.session = original.session
        self.sizes: dict[str, int] = {}
        self.reason = "the values differ"
        self.array: str | None = None
        self.span: Span | None = None

    def witness(self, expected: isl.UnionMap, values: isl.UnionMap) -> Witness | None:
        """A witness from the sources that reads should have and those that they have.

        None when no two iterations show it; `reason`, `span` and `array` say what is wrong then.

        Args:
            expected: token -> read of the new program, as in the original.
            values: token -> read of the new program.
        """
        found = self._smallest(expected.subtract(values)) or self._smallest(
            values.subtract(expected)
        )
        if found is None:
            return None
        self.sizes, _, read = found
        there = self._image(self.hints.reads, read)
        if there is None:
            return None
        self.array = self._cell(there)[0] or None
        wanted = self._preimage(self.flow.values, there)
        got = self._preimage(values, read)
        return self._classify(read, there, wanted, got)

    def extra(self, reads: isl.UnionMap) -> Witness | None:
        """A witness for iterations that the original does not have.

        Args:
            reads: read of the new program -> read that the original does not have.
        """
        found = self._smallest(reads)
        if found is None:
            return None
        self.sizes, _, there = found
        more = self.instance(there)
        if more is None or more.number < 0:
            return None
        writes = self.original.statements[more.number].writes
        return self._make("extra", writes[0].array if writes else "", (), more, None)

    def at_smallest(self, relation: isl.UnionMap, sizes: isl.Set) -> isl.UnionMap:
        """A relation at one of some sizes, as small as possible.

        Args:
            relation: any.
            sizes: a set of parameters, not empty.
        """
        parameters = sizes.get_var_names_not_none(isl.dim_type.param)
        for limit in _LIMITS:
            found = isl.limited(sizes, parameters, limit)
            if not found.is_empty():
                return relation.intersect_params(isl.least(found))
        return relation.intersect_params(sizes)

    # --- points ---------------------------------------------------------------------------------

    def _smallest(self, relation: isl.UnionMap) -> tuple[dict[str, int], Point, Point] | None:
        """A point of a relation for sizes as small as possible."""
        if relation.is_empty():
            return None
        pieces = relation.get_map_list()
        count = int(pieces.n_map())
        known = {*self.original.parameters, *self.new.parameters}
        for limit in _LIMITS:
            for position in range(count):
                piece = pieces.get_at(position)
                named = range(int(piece.dim(isl.dim_type.param)))  # extents that neither reads
                own = {str(piece.get_dim_name(isl.dim_type.param, each)) for each in named}
                wrapped = isl.limited(piece.wrap(), sorted(known | own), limit)
                found = isl.points(wrapped)
                if found is not None:
                    inner = int(piece.dim(isl.dim_type.in_))
                    sizes, at = found
                    names = (
                        piece.get_tuple_name(isl.dim_type.in_),
                        piece.get_tuple_name(isl.dim_type.out),
                    )
                    first = Point(names[0], tuple(at[:inner]))
                    return sizes, first, Point(names[1], tuple(at[inner:]))
        return None

    def _point_set(self, point: Point) -> isl.UnionSet:
        names = sorted(self.sizes)
        known = " and ".join(f"{name} = {self.sizes[name]}" for name in names) or "true"
        return self.session.union_set(names, [f"{point.text} : {known}"])

    def _image(self, relation: isl.UnionMap, point: Point) -> Point | None:
        return self._only(self._point_set(point).apply(relation))

    def _preimage(self, relation: isl.UnionMap, point: Point) -> Point | None:
        return self._only(self._point_set(point).apply(relation.reverse()))

    def _only(self, values: isl.UnionSet) -> Point | None:
        return next(iter(self._points(values, 1)), None)

    def _points(self, values: isl.UnionSet, most: int) -> list[Point]:
        found: list[Point] = []
        pieces = values.get_set_list()
        for position in range(int(pieces.n_set())):
            piece = pieces.get_at(position)
            while len(found) < most:
                point = isl.points(piece)
                if point is None:
                    break
                found.append(Point(piece.get_tuple_name(), tuple(point[1])))
                piece = piece.subtract(isl.single(piece, point[1]))
        return found

    # --- meaning --------------------------------------------------------------------------------

    def _classify(
        self, read: Point, there: Point, wanted: Point | None, got: Point | None
    ) -> Witness | None:
        reader = self.instance(there)
        array, cell = self._cell(there)
        source = self.instance(wanted) if wanted is not None else None
        # what comes from another cell is no write that could change places with one
        other = self.instance(got) if got is not None and self._meet(got, there) else None
        if other is not None and (source is None or self._is_before(there, got)):
            return self._make("anti", array, cell, reader, other)
        if source is None:
            return self._make("flow", array, cell, None, reader)
        assert wanted is not None
        runs = self._new_times(wanted)
        where = f"{array}[{', '.join(map(str, cell))}]" if cell else array
        if not runs and source is not None and self._is_hidden(source.number):
            self.reason = f"what writes {where} stands in a condition or loop that is not modelled"
            return None
        if not runs:
            return self._make("missing", array, cell, source, reader)
        before = self._time(self.new.schedule, read)
        if not any(time < before for time in runs):
            return self._make("flow", array, cell, source, reader)
        late = self._new_times(got) if other is not None and got is not None else []
        if late and max(late) > max(runs):
            return self._make("output", array, cell, other, source)
        self.span = source.span if source is not None else None
        self.reason = f"the value that {source} writes to {where} would not reach {reader}"
        return None

    def _meet(self, write: Point, read: Point) -> bool:
        """Whether a write and a read of the original are of the same cell."""
        cell = self._image(self.original.sources, write)
        return cell is not None and cell == self._image(self.original.sinks, read)

    def _is_hidden(self, number: int) -> bool:
        """Whether a statement of the original stands inside a block that is kept whole now."""
        found = [nodes.origin(each) for each in query.statements(self.new.program.function)]
        copies = sum(each is not None and each.statement == number for each in found)
        modelled = sum(
            each.leaf.origin is not None and each.leaf.origin.statement == number
            for each in self.new.statements
        )
        return modelled < copies

    def instance(self, point: Point) -> Instance | None:
        """The iteration of the original that a read or write belongs to."""
        found = _NAME.match(point.name)
        if found is None or found.group(1) != "S":
            return Instance(None, -1, (), None) if point.name.startswith("O") else None
        statement = self.original.statements[int(found.group(2))]
        return instance_of(self.original, statement, point.at)

    def _cell(self, read: Point) -> tuple[str, tuple[int, ...]]:
        cell = self._image(self.original.sinks, read)
        if cell is None:
            return "", ()
        known = (*self.original.names.arguments, *self.original.names.local)
        names = {array_name(name): name for name in (*known, CONTROL, EFFECTS, RETURN)}
        return names.get(cell.name, cell.name), cell.at

    def _time(self, schedule: isl.UnionMap, point: Point) -> tuple[int, ...]:
        found = self._image(schedule, point)
        return found.at if found is not None else ()

    def _is_before(self, read: Point, write: Point | None) -> bool:
        """Whether a read comes before a write in the original."""
        if write is None:
            return False
        schedule = self.original.schedule
        return self._time(schedule, read) < self._time(schedule, write)

    def _new_times(self, write: Point) -> list[tuple[int, ...]]:
        """When the iterations run that stand for a write of the original."""
        runs = self._point_set(write).apply(self.hints.writes.reverse())
        runs = runs.intersect(self.new.sources.domain())
        return [self._time(self.new.schedule, each) for each in self._points(runs, 20)]

    def _make(
        self,
        kind: ConflictKind,
        array: str,
        cell: tuple[int, ...],
        first: Instance | None,
        second: Instance | None,
    ) -> Witness:
        names = self.original.names
        sizes = {readable(k, names): v for k, v in sorted(self.sizes.items())}
        telling = frozenset(readable(k, names) for k in self._telling(array, first, second))
        distance = distance_of(self.original, first, second)
        where = f"{array}[{', '.join(map(str, cell))}]" if cell else array
        start = "as it was allocated" if array in names.local else "as it was at the call"
        message = _message(kind, where, first, second, distance, start)
        made = Witness(kind, array, cell, first, second, sizes, distance, message)
        return replace(made, telling=telling, start=start)

    def _telling(self, array: str, *instances: Instance | None) -> set[str]:
        """Integers, and the lengths on which it depends whether iterations run or reach a cell."""
        found = {name for name in self.sizes if not _EXTENT.match(name)}
        found |= {name for name in self.sizes if name.endswith(f"_{mangled(array)}")}
        for each in instances:
            if each is None or each.number < 0:  # the end of the function: every loop counts
                return set(self.sizes)
            found |= parameters_in(self.original.statements[each.number].leaf.place.constraints)
        return found & set(self.sizes)


def statement_witness(model: Model, statement: Statement, reason: str) -> Witness:
    """A witness for a statement that does not compute what its original computes."""
    leaf = statement.leaf
    span = model.program.source.span(leaf.node)
    first = Instance(leaf.node, leaf.number, (), span)
    array = statement.writes[0].array if statement.writes else ""
    message = f"the statement is not the original one any more: {reason}"
    return Witness("statement", array, (), first, None, {}, None, message)


def instance_of(model: Model, statement: Statement, at: Sequence[int]) -> Instance:
    """One iteration of a statement of the original."""
    leaf = statement.leaf
    iteration = tuple(zip(leaf.variables, at, strict=False))
    span = model.program.source.span(leaf.node)
    return Instance(leaf.node, leaf.number, iteration, span)


def distance_of(
    model: Model, first: Instance | None, second: Instance | None
) -> tuple[int, ...] | None:
    """Trips from one iteration to another in each loop around both, or None without such loops."""
    if first is None or second is None or first.number < 0 or second.number < 0:
        return None
    levels = [model.statements[each.number].leaf.place.levels for each in (first, second)]
    common: list[Level] = []
    for one, other in zip(*levels, strict=False):
        if one.loop is not other.loop:
            break
        common.append(one)
    if not common:
        return None
    return tuple(
        (second.iteration[depth][1] - first.iteration[depth][1]) // level.step
        for depth, level in enumerate(common)
    )


def _message(
    kind: ConflictKind,
    where: str,
    first: Instance | None,
    second: Instance | None,
    distance: tuple[int, ...] | None,
    start: str,
) -> str:
    tail = f"; distance ({', '.join(map(str, distance))})" if distance else ""
    match kind:
        case "anti":
            head = f"{first} reads {where}, which {second} writes later; after this step the "
            return f"{head}write would come first{tail}"
        case "output":
            head = f"{first} writes {where} and {second} overwrites it; after this step "
            return f"{head}the first of the two writes would be the last{tail}"
        case "missing":
            return f"{first} writes {where} for {second}; after this step it does not run{tail}"
        case "extra":
            return f"{first} would run, which does not run in the function as it is written"
        case "flow" if first is None:
            return f"{second} would no longer read {where} {start}"
        case "flow":
            head = f"{first} writes {where}, which {second} reads; after this step the value "
            return f"{head}would not be there yet{tail}"
    return f"{first} and {second} differ on {where}{tail}"
