"""What a program moves and computes for given sizes: cells per nest and per iteration, operations.

Counts are exact where all accesses are of known cells; where one is not (``a[idx[i]]``, ``while``),
they are what may be touched at most, and the array is among `Measured.estimated`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astile.analysis import isl
from astile.analysis.counts import block_counts
from astile.analysis.counts.counting import count
from astile.analysis.counts.per_loop import Footprint
from astile.analysis.counts.touched import Touched, is_inside, like
from astile.analysis.forms.params import extent_name
from astile.analysis.reading import hardware
from astile.analysis.reading.instances import Model, Statement
from astile.analysis.reading.model import extract
from astile.analysis.reading.statements import Place
from astile.ir import query
from astile.ir.program import Program

_COUNTED = (ast.BinOp, ast.Compare)


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
        busy: kernel that runs -> how many of its threads, of all blocks, run its busiest statement;
            kernels are numbered in the order of the text.
    """

    read: Mapping[str, int]
    written: Mapping[str, int]
    operations: int
    is_exact: bool
    footprints: tuple[Footprint[int], ...]
    block_read: Mapping[str, int]
    block_written: Mapping[str, int]
    busy: Mapping[int, int]

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
        self.model, self.shapes = model, shapes
        self.roots = list(hardware.roots(model.program.function.body))
        values = {f"n_{name}": value for name, value in integers.items()}
        for name, shape in shapes.items():
            values |= {extent_name(name, axis): e for axis, e in enumerate(shape)}
        self.made = self._made(Touched(model, values, shapes))
        self.sets = Touched(model, values, {**self.made, **shapes})

    def measured(self) -> Measured:
        nests = [self._nest(each) for each in self.sets.nests()]
        touched = [each for each in nests if each.read or each.written or each.operations]
        return Measured(tuple(touched), estimated(self.model), self.made)

    def _cells(self, relation: isl.UnionSet) -> dict[str, int]:
        """Array -> number of cells in a set of cells."""
        found: dict[str, int] = {}
        for name, piece in self.sets.pieces(relation):
            number = count(without_parameters(piece))
            if number:
                found[name] = found.get(name, 0) + number
        return found

    # --- nests ------------------------------------------------------------------------------------

    def _nest(self, statements: Sequence[Statement]) -> Nest:
        sets, every = self.sets, self.model.names.ranks
        read = block_read = self._cells(sets.read(statements, every))
        written = block_written = self._cells(sets.written(statements, every))
        if sets.has_blocks(statements):
            block_read = self._cells(sets.read_by_blocks(statements, every))
            block_written = self._cells(sets.written_by_blocks(statements, every))
        runs = [self._runs(each) for each in statements]
        return Nest(
            read=read,
            written=written,
            operations=sum(
                n * operations(e.leaf.node) for n, e in zip(runs, statements, strict=True)
            ),
            is_exact=all(each.leaf.is_simple for each in statements),
            footprints=tuple(self._footprints(statements)),
            block_read=block_read,
            block_written=block_written,
            busy=self._busy(statements),
        )

    def _busy(self, statements: Sequence[Statement]) -> dict[int, int]:
        found: dict[int, int] = {}
        for number, root in enumerate(self.roots):
            inside = [e for e in statements if any(x.loop is root for x in e.leaf.place.levels)]
            most = max(map(self._threads, inside), default=0)
            if most:
                found[number] = most
        return found

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
        values = self._domain(place)
        for axis in reversed(range(len(place.dimensions))):
            if place.dimensions[axis] not in own:
                values = values.project_out(isl.dim_type.set, axis, 1)
        return count(values)

    def _runs(self, statement: Statement) -> int:
        return count(self._domain(statement.leaf.place))

    def _domain(self, place: Place) -> isl.Set:
        return without_parameters(self.sets.iterations(place.constraints, place.dimensions))

    # --- footprints -------------------------------------------------------------------------------

    def _footprints(self, statements: Sequence[Statement]) -> Iterator[Footprint[int]]:
        yield Footprint("", "", 0, 1, 1, self._touched(statements, {}))
        seen: set[int] = set()
        for statement in statements:
            for depth, level in enumerate(statement.leaf.place.levels, 1):
                found = None if id(level.loop) in seen else self._middle(statement, depth)
                if found is None:  # other statements of the loop may run
                    continue
                seen.add(id(level.loop))
                iteration, trips, extent = found
                inside = [e for e in statements if is_inside(e, level)]
                header = query.header(level.loop)
                assert header is not None
                cells = self._touched(inside, iteration)
                yield Footprint(level.variable, header.kind, depth, trips, extent, cells)

    def _touched(
        self, statements: Sequence[Statement], iteration: Mapping[str, str]
    ) -> dict[str, int]:
        return self._cells(self.sets.touched(statements, iteration))

    def _middle(self, statement: Statement, depth: int) -> tuple[dict[str, str], int, int] | None:
        """A middle iteration of outer loops, and the inmost's trips with and without conditions.

        None where no iteration runs.
        """
        place = statement.leaf.place
        levels = place.levels[:depth]
        values = self._domain(place)
        values = values.project_out(isl.dim_type.set, depth, len(place.levels) - depth)
        if values.is_empty():
            return None
        chosen: list[int] = []
        trips = 0
        for axis in range(depth):
            here = isl.single(values, chosen)
            here = here.project_out(isl.dim_type.set, axis + 1, depth - axis - 1)
            trips = count(here)
            low, high = (_integer(e) for e in (here.dim_min_val(axis), here.dim_max_val(axis)))
            step = (high - low) // max(trips - 1, 1)
            chosen.append(low + trips // 2 * step)
        ranges = self.sets.iterations([e.bounds for e in levels], place.dimensions[:depth])
        extent = count(isl.single(without_parameters(ranges), chosen[:-1]))
        return {e.dimension: str(v) for e, v in zip(levels, chosen, strict=True)}, trips, extent

    # --- arrays -----------------------------------------------------------------------------------

    def _made(self, sets: Touched) -> dict[str, tuple[int, ...] | None]:
        """The shapes of the arrays that the program makes."""
        found: dict[str, tuple[int, ...] | None] = {}
        for statement in self.model.statements:
            made = query.allocation(statement.leaf.node)
            if made is None:
                continue
            extents = sets.extents(made, statement)
            if extents is None:
                same = {**self.shapes, **found}.get(like(made, statement))
                found[made.array] = None if same is None else tuple(same)
                continue
            largest = [None if e is None else _largest(without_parameters(e)) for e in extents]
            known = [each for each in largest if each is not None]
            found[made.array] = tuple(known) if len(known) == len(largest) else None
        return found


def estimated(model: Model) -> frozenset[str]:
    """The arrays of which not all cells that are touched are known.

    Args:
        model: of a program.
    """
    return frozenset(
        access.array
        for each in model.statements
        for access in (*each.reads, *each.writes)
        if access.array in model.names.ranks
        and not (access.is_exact and each.leaf.is_simple)
        and not query.is_allocation(each.leaf.node)
    )


def _largest(values: isl.Set) -> int | None:
    return None if values.is_empty() else _integer(values.dim_max_val(0))


def _integer(value: Any) -> int:
    return isl.integer(value)


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
        total += isinstance(node, ast.Call) and not _is_free(node)
        pending += ast.iter_child_nodes(node)
    return total


def _is_free(call: ast.Call) -> bool:
    word = (query.dotted(call.func) or "").rpartition(".")[2]
    return word in ("int", "float", "bool", "complex", "len") or word.rstrip("0123456789") in (
        "int",
        "uint",
        "float",
        "complex",
    )
