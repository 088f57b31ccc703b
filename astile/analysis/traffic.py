"""What a program moves and computes for given sizes: cells per nest and per iteration, operations.

Counts are exact where all accesses are of known cells; where one is not (``a[idx[i]]``, ``while``),
they are what may be touched at most, and the array is among `Measured.estimated`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astile.analysis import block_counts, hardware, isl
from astile.analysis.affine_sets import Quasi, quasi
from astile.analysis.counting import count
from astile.analysis.domains import array_name
from astile.analysis.instances import Model, Statement, coordinates
from astile.analysis.model import extract
from astile.analysis.params import extent_name
from astile.analysis.statements import Level, Place
from astile.ir import query
from astile.ir.program import Program

_COUNTED = (ast.BinOp, ast.Compare)


@dataclass(frozen=True)
class Footprint:
    """How many cells of each array one iteration of a loop touches, a middle one.

    Args:
        loop: the variable of the loop; empty for a nest as a whole.
        kind: ``"range"``, ``"parallel"``, ``"block.x"``, ...; empty for a nest as a whole.
        depth: how many loops are around it.
        trips: how many iterations the loop has there.
        extent: how many it is written with, conditions inside left out; `trips` where that is no
            literal.
        cells: array -> number of cells.
    """

    loop: str
    kind: str
    depth: int
    trips: int
    extent: int
    cells: Mapping[str, int]


@dataclass(frozen=True)
class Nest:
    """One statement of the function's body, with all that is inside it.

    Args:
        read: array -> cells whose value was there before the nest ran.
        written: array -> cells that the nest writes.
        operations: additions, multiplications, comparisons, calls of functions, on values.
        is_exact: whether no statement holds others, of which not all may run (``if`` on data).
        footprints: of the nest, and of one iteration of each of its loops.
        block_read: array -> cells that its thread blocks read, each for itself; the same as `read`
            where it has no blocks.
        block_written: array -> cells that they write, each for itself.
        busy: how many of its threads, of all blocks, run its busiest statement.
    """

    read: Mapping[str, int]
    written: Mapping[str, int]
    operations: int
    is_exact: bool
    footprints: tuple[Footprint, ...]
    block_read: Mapping[str, int]
    block_written: Mapping[str, int]
    busy: int

    @property
    def cells(self) -> Mapping[str, int]:
        """Array -> number of cells that the nest touches."""
        return self.footprints[0].cells


@dataclass(frozen=True)
class Measured:
    """A program for given sizes.

    Args:
        nests: in textual order; statements without a loop that touch no array are left out.
        estimated: arrays for which the numbers are upper limits.
        made: array that the program makes -> its shape; None where the sizes do not tell.
    """

    nests: tuple[Nest, ...]
    estimated: frozenset[str]
    made: Mapping[str, tuple[int, ...] | None]


def measure(
    program: Program, shapes: Mapping[str, Sequence[int]], integers: Mapping[str, int]
) -> Measured:
    """Count what a program touches and computes.

    Args:
        program: any step of a schedule.
        shapes: array argument -> its shape.
        integers: integer argument -> its value.

    Raises:
        NotModelled: for Python whose meaning the model does not hold.
        isl.Error: when isl fails, and for arrays whose extents do not follow from the arguments.
    """
    return _Counter(extract(program), shapes, integers).measured()


class _Counter:
    def __init__(
        self, model: Model, shapes: Mapping[str, Sequence[int]], integers: Mapping[str, int]
    ) -> None:
        self.model, self.session, self.shapes = model, model.session, shapes
        self.values = {f"n_{name}": value for name, value in integers.items()}
        for name, shape in shapes.items():
            self.values |= {extent_name(name, axis): e for axis, e in enumerate(shape)}
        self.names = {array_name(each): each for each in model.names.ranks}
        self.made = self._made()
        inside = self._inside()
        self.sinks = self._fixed(model.sinks).intersect_range(inside)
        self.sources = self._fixed(model.sources).intersect_range(inside)

    def measured(self) -> Measured:
        by_nest: dict[int, list[Statement]] = {}
        for each in self.model.statements:
            if isinstance(each.leaf.node, ast.Return) and not query.accesses(each.leaf.node):
                continue  # an array is handed over, not read
            levels = each.leaf.place.levels
            position = levels[0].position if levels else each.leaf.position
            by_nest.setdefault(position, []).append(each)
        nests = [self._nest(each) for _, each in sorted(by_nest.items())]
        touched = [each for each in nests if each.read or each.written or each.operations]
        estimated = {
            access.array
            for each in self.model.statements
            for access in (*each.reads, *each.writes)
            if access.array in self.model.names.ranks
            and not (access.is_exact and each.leaf.is_simple)
            and not query.is_allocation(each.leaf.node)
        }
        return Measured(tuple(touched), frozenset(estimated), self.made)

    # --- sets without parameters ------------------------------------------------------------------

    def _fixed(self, relation: isl.UnionMap) -> isl.UnionMap:
        known = " and ".join(
            f"{name} = {self.values[name]}" for name in self.model.parameters if name in self.values
        )
        text = f"[{', '.join(self.model.parameters)}] -> {{ : {known or 'true'} }}"
        return relation.intersect_params(self.session.set(text))

    def _inside(self) -> isl.UnionSet:
        """The cells of all arrays, within their shapes where those are known."""
        pieces = []
        for name, rank in self.model.names.ranks.items():
            axes = coordinates(rank)
            shape = self.shapes.get(name) or self.made.get(name) or ()
            limits = [f"0 <= {a} < {e}" for a, e in zip(axes, shape, strict=False)]
            condition = " and ".join(limits) or "true"
            pieces.append(f"{array_name(name)}[{', '.join(axes)}] : {condition}")
        return self.session.union_set((), pieces)

    def _cells(self, relation: isl.UnionSet) -> dict[str, int]:
        """Array -> number of cells in a set of cells."""
        found: dict[str, int] = {}
        pieces = relation.get_set_list()
        for position in range(int(pieces.n_set())):
            piece = pieces.get_at(position)
            if piece.is_wrapping():  # [block -> cell]
                name = self.names.get(piece.unwrap().get_tuple_name(isl.dim_type.out) or "")
                piece = piece.flatten()
            else:
                name = self.names.get(piece.get_tuple_name() or "")
            number = count(without_parameters(piece))
            if name is not None and number:
                found[name] = found.get(name, 0) + number
        return found

    # --- nests ------------------------------------------------------------------------------------

    def _accesses(
        self, statements: Iterable[Statement], limits: Sequence[str] = ()
    ) -> tuple[isl.UnionSet, isl.UnionSet]:
        """Instances of the reads and of the writes that the text of statements shows."""
        condition = " and ".join(limits) or "true"
        reads, writes = [], []
        for each in statements:
            made = query.allocation(each.leaf.node)
            shown = [a for a in each.reads if a.slot.startswith("r")]
            reads += [f"{each.instance(a)} : {condition}" for a in shown]
            if made is None or not made.word.startswith("empty"):
                writes += [f"{each.instance(a)} : {condition}" for a in each.writes]
        return self.session.union_set((), reads), self.session.union_set((), writes)

    def _nest(self, statements: Sequence[Statement]) -> Nest:
        reads, writes = self._accesses(statements)
        sinks = self.sinks.intersect_domain(reads)
        sources = self.sources.intersect_domain(writes)
        flow = isl.flow(sinks, sources, self.model.schedule)
        read = self._cells(flow.get_must_no_source().range())
        written = self._cells(sources.range())
        found = block_counts.pairs(self.session, statements, sinks, sources, self.model.schedule)
        runs = [self._runs(each) for each in statements]
        return Nest(
            read=read,
            written=written,
            operations=sum(
                n * operations(e.leaf.node) for n, e in zip(runs, statements, strict=True)
            ),
            is_exact=all(each.leaf.is_simple for each in statements),
            footprints=tuple(self._footprints(statements)),
            block_read=read if found is None else self._cells(found.read),
            block_written=written if found is None else self._cells(found.written),
            busy=max(map(self._threads, statements), default=0),
        )

    def _threads(self, statement: Statement) -> int:
        """How many threads run a statement at all."""
        place = statement.leaf.place
        own = [
            each.dimension
            for level in ("block", "thread")
            for each in block_counts.bound(statement, level)
        ]
        if not own:
            return 0
        values = self._domain(place.constraints, place.dimensions)
        for axis in reversed(range(len(place.dimensions))):
            if place.dimensions[axis] not in own:
                values = values.project_out(isl.dim_type.set, axis, 1)
        return count(values)

    def _runs(self, statement: Statement) -> int:
        place = statement.leaf.place
        return count(self._domain(place.constraints, place.dimensions))

    def _domain(self, constraints: Sequence[str], dimensions: Sequence[str]) -> isl.Set:
        condition = " and ".join(constraints) or "true"
        parameters = ", ".join(self.model.parameters)
        values = self.session.set(
            f"[{parameters}] -> {{ [{', '.join(dimensions)}] : {condition} }}"
        )
        known = [f"{n} = {v}" for n, v in self.values.items() if n in self.model.parameters]
        fixed = self.session.set(f"[{parameters}] -> {{ : {' and '.join(known) or 'true'} }}")
        return without_parameters(values.intersect_params(fixed))

    # --- footprints -------------------------------------------------------------------------------

    def _footprints(self, statements: Sequence[Statement]) -> Iterator[Footprint]:
        yield Footprint("", "", 0, 1, 1, self._touched(statements, ()))
        seen: set[int] = set()
        for statement in statements:
            for depth, level in enumerate(statement.leaf.place.levels):
                if id(level.loop) in seen:
                    continue
                seen.add(id(level.loop))
                inside = [e for e in statements if _is_inside(e, level)]
                found = self._middle(statement.leaf.place, depth + 1)
                if found is not None:
                    limits, trips = found
                    header = query.header(level.loop)
                    assert header is not None
                    cells = self._touched(inside, limits)
                    extent = hardware.trip_count(level.loop) or trips
                    yield Footprint(level.variable, header.kind, depth + 1, trips, extent, cells)

    def _touched(self, statements: Sequence[Statement], limits: Sequence[str]) -> dict[str, int]:
        reads, writes = self._accesses(statements, limits)
        cells = self.sinks.intersect_domain(reads).range()
        return self._cells(cells.union(self.sources.intersect_domain(writes).range()))

    def _middle(self, place: Place, depth: int) -> tuple[list[str], int] | None:
        """A middle iteration of the outer loops of a place as formulas, and the inmost's trips.

        None where no iteration runs.
        """
        levels = place.levels[:depth]
        values = self._domain(place.constraints, place.dimensions)
        values = values.project_out(isl.dim_type.set, depth, len(place.levels) - depth)
        if values.is_empty():
            return None
        chosen: list[int] = []
        trips = 0
        for axis in range(len(levels)):
            inner = len(levels) - axis - 1
            here = isl.single(values, chosen).project_out(isl.dim_type.set, axis + 1, inner)
            trips = count(here)
            low, high = (_integer(e) for e in (here.dim_min_val(axis), here.dim_max_val(axis)))
            step = (high - low) // max(trips - 1, 1)
            chosen.append(low + trips // 2 * step)
        limits = [f"{e.dimension} = {v}" for e, v in zip(levels, chosen, strict=True)]
        return limits, trips

    # --- arrays -----------------------------------------------------------------------------------

    def _made(self) -> dict[str, tuple[int, ...] | None]:
        """The shapes of the arrays that the program makes."""
        found: dict[str, tuple[int, ...] | None] = {}
        for statement in self.model.statements:
            made = query.allocation(statement.leaf.node)
            if made is not None:
                found[made.array] = self._shape(made, statement, {**self.shapes, **found})
        return found

    def _shape(
        self,
        made: query.Allocation,
        statement: Statement,
        known: Mapping[str, Sequence[int] | None],
    ) -> tuple[int, ...] | None:
        if made.shape is None:
            assert isinstance(statement.leaf.node, ast.Assign)
            assert isinstance(statement.leaf.node.value, ast.Call)
            like = known.get(query.dotted(statement.leaf.node.value.args[0]) or "")
            return None if like is None else tuple(like)
        forms = [quasi(each, statement.accesses.scope) for each in made.shape]
        values = [None if each is None else self._largest(each, statement) for each in forms]
        known_values = [each for each in values if each is not None]
        return tuple(known_values) if len(known_values) == len(values) else None

    def _largest(self, form: Quasi, statement: Statement) -> int | None:
        """The greatest value of an integer over all runs of a statement."""
        place = statement.leaf.place
        dimensions = (*place.dimensions, "value")
        values = self._domain((*place.constraints, f"value = {form.text}"), dimensions)
        return None if values.is_empty() else _integer(values.dim_max_val(len(dimensions) - 1))


def _integer(value: Any) -> int:
    return int(value.to_python())


def _is_inside(statement: Statement, level: Level) -> bool:
    return any(each.loop is level.loop for each in statement.leaf.place.levels)


def without_parameters(values: isl.Set) -> isl.Set:
    """A set whose parameters are fixed, as one without parameters.

    Args:
        values: fixes all its parameters.
    """
    return values.project_out(isl.dim_type.param, 0, int(values.dim(isl.dim_type.param)))


def operations(statement: ast.stmt) -> int:
    """How many operations on values one run of a statement takes; indices do not count.

    Args:
        statement: a leaf; of one that holds others, all of them count once.
    """
    total = sum(isinstance(each, ast.AugAssign) for each in ast.walk(statement))
    if query.is_allocation(statement):
        return 0
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Subscript):
            continue
        total += isinstance(node, _COUNTED)
        total += isinstance(node, ast.Call) and not _is_cast(node)
        pending += ast.iter_child_nodes(node)
    return total


def _is_cast(call: ast.Call) -> bool:
    word = (query.dotted(call.func) or "").rpartition(".")[2]
    return word in ("int", "float", "bool", "complex") or word.rstrip("0123456789") in (
        "int",
        "uint",
        "float",
        "complex",
    )
