"""What a program moves and computes as formulas over its sizes, where these are short ones.

The sets are those that `traffic` counts for given sizes. A formula holds for all sizes that are
large enough, for which no tile is the only one; nothing is fitted or sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from astile.analysis import isl
from astile.analysis.counts.formulas import Formula, total
from astile.analysis.counts.per_loop import Footprint
from astile.analysis.counts.symbolic import NoFormulaError, Symbolic
from astile.analysis.counts.touched import Touched, is_inside, like
from astile.analysis.counts.traffic import operations
from astile.analysis.forms.params import extent_name
from astile.analysis.reading import hardware
from astile.analysis.reading.instances import Model, Statement
from astile.analysis.reading.statements import Level
from astile.ir import query

#: Sizes from which on formulas are looked for, one after the other.
_SIZES = (4, 12, 64, 1024)
#: A longer formula is none that people read.
_LONGEST = 72
#: isl's names of the iteration that a footprint is of.
_AT = "at_"

#: Processor time for all formulas, and for one: what is not found by then has none.
_SECONDS, _EACH = 5.0, 0.2
#: How many of the iterations before an end are left out, one after the other.
_FROM_ENDS = (1, 4)
#: Why there is no formula, where it is no matter of the sizes.
_LONG, _LATE = "it is too long to be read", "none was found in time"
_UNBOUNDED = "the extents of the array do not follow from the arguments"

#: A number of cells of each array; None where there is no formula.
Cells = Mapping[str, Formula | None]
#: How far from the ends of loops -> iterations that are so far from them, as parameters.
Around = Callable[[int], isl.Set]
#: What one iteration of each loop touches.
Span = Footprint[Formula | None]


@dataclass(frozen=True)
class Moves:
    """The cells of each array that one nest reads from outside of it, and that it writes.

    Args:
        read: array -> number of cells.
        written: array -> number of cells.
        block_read: the same, each cell once for every block; None for a nest without blocks.
        block_written: the same of what is written.
    """

    read: Cells
    written: Cells
    block_read: Cells | None
    block_written: Cells | None


@dataclass(frozen=True)
class General:
    """A program for all sizes that are large enough.

    Args:
        nests: what each nest moves.
        operations: on values.
        spans: for each nest what it touches as a whole, and in one iteration of each loop.
        made: array that the program makes -> its extents.
        least: the sizes from which on this holds.
        reasons: why there is no formula -> of what.
    """

    nests: tuple[Moves, ...]
    operations: Formula | None
    spans: tuple[tuple[Span, ...], ...]
    made: Mapping[str, tuple[Formula | None, ...] | None]
    least: int
    reasons: Mapping[str, tuple[str, ...]]


def general(model: Model, names: Mapping[str, str]) -> General:
    """Count what a program touches and computes, as formulas.

    Args:
        model: of any step of a schedule.
        names: isl parameter -> what it is called in formulas.

    Raises:
        isl.Error: when isl fails.
    """
    return _General(model, names).found()


class _General:
    def __init__(self, model: Model, names: Mapping[str, str]) -> None:
        self.model, self.names = model, dict(names)
        self.least = 0
        self.seconds = _SECONDS
        self.reasons: dict[str, dict[str, None]] = {}
        sets = Touched(model, {}, {})
        self.made = self._made(sets)
        inside = {each: self._extents(each) for each in unknown_cells(model)}
        self.sets = Touched(model, {}, inside | sets.texts_of_extents())

    def _extents(self, array: str) -> list[str | None]:
        """The extents of an array argument as parameters: what is not known is not outside."""
        names = [extent_name(array, axis) for axis in range(self.model.names.ranks[array])]
        return [each if each in self.model.parameters else None for each in names]

    def found(self) -> General:
        every = self.sets.nests()
        runs = [
            (operations(each.leaf.node), each)
            for each in self.model.statements
            if operations(each.leaf.node)
        ]
        counts = [self._count([self._domain(each)], "operations") for _, each in runs]
        known = [each.times(number) for each, (number, _) in zip(counts, runs, strict=True) if each]
        return General(
            tuple(map(self._moves, every)),
            total(known) if len(known) == len(runs) else None,
            tuple(tuple(self._spans(each)) for each in every),
            self.made,
            self.least,
            {reason: tuple(each) for reason, each in self.reasons.items()},
        )

    # --- counting ---------------------------------------------------------------------------------

    def _cells(
        self, cells: isl.UnionSet, what: str, around: Around | None = None
    ) -> dict[str, Formula | None]:
        sets: dict[str, list[isl.Set]] = {}
        for name, piece in self.sets.pieces(cells):
            sets.setdefault(name, []).append(piece)
        return {n: self._count(each, f"{n} {what}", around) for n, each in sets.items()}

    def _count(
        self, sets: Sequence[isl.Set], what: str, around: Around | None = None
    ) -> Formula | None:
        """The number of points of sets, for sizes as small as possible; None without a formula.

        Args:
            sets: have no point in common.
            what: it is, for the reason why there is no formula.
            around: how far from the ends of loops -> values of parameters to which it is limited.
        """
        return self._first(lambda each: total(map(each.count, sets)), what, around)

    def _first(
        self, ask: Callable[[Symbolic], Formula], what: str, around: Around | None = None
    ) -> Formula | None:
        reason = _LATE
        for least, far in product(_SIZES, (0,) if around is None else _FROM_ENDS):
            if self.seconds < 0:
                break
            self.model.session.restart(_EACH)
            try:
                context = self._context(least)
                context = context if around is None else context.intersect(around(far))
                found = ask(Symbolic(context, self.names))
                reason = "" if len(str(found)) <= _LONGEST else _LONG
            except NoFormulaError as error:
                reason = str(error)
            except isl.Error as error:
                reason = _LATE if self.model.session.is_budget(error) else _UNBOUNDED
            finally:
                self.seconds -= self.model.session.elapsed
                self.model.session.restart(None)
            if not reason:
                self.least = max(self.least, least)
                return found
        self.reasons.setdefault(reason, {})[what] = None
        return None

    def _context(self, least: int) -> isl.Set:
        parameters = self.model.parameters
        known = " and ".join(f"{each} >= {least}" for each in parameters) or "true"
        return self.model.session.set(f"[{', '.join(parameters)}] -> {{ : {known} }}")

    def _moves(self, statements: Sequence[Statement]) -> Moves:
        blocks = self.sets.of_blocks(statements)
        return Moves(
            self._cells(self.sets.read(statements), "read"),
            self._cells(self.sets.written(statements), "written"),
            None if blocks is None else self._cells(blocks.read, "read by blocks"),
            None if blocks is None else self._cells(blocks.written, "written by blocks"),
        )

    # --- footprints -------------------------------------------------------------------------------

    def _domain(self, statement: Statement) -> isl.Set:
        place = statement.leaf.place
        return self.sets.iterations(place.constraints, place.dimensions)

    def _spans(self, statements: Sequence[Statement]) -> Iterator[Span]:
        cells = self._cells(self.sets.touched(statements, {}), "in a nest")
        yield Footprint("", "", 0, None, None, cells)
        seen: set[int] = set()
        for statement in statements:
            levels = statement.leaf.place.levels
            for depth, level in enumerate(levels, 1):
                if id(level.loop) not in seen:
                    seen.add(id(level.loop))
                    inside = [each for each in statements if is_inside(each, level)]
                    yield self._span(statement, levels[:depth], inside)

    def _span(
        self, statement: Statement, levels: Sequence[Level], inside: Sequence[Statement]
    ) -> Span:
        iteration = {each.dimension: f"{_AT}{each.dimension}" for each in levels}
        self.names |= {f"{_AT}{each.dimension}": each.variable for each in levels}
        values = self._domain(statement)
        rest = int(values.dim(isl.dim_type.set)) - len(levels)
        values = values.project_out(isl.dim_type.set, len(levels), rest)
        *outer, last = iteration.values()
        ranges = self.sets.iterations([e.bounds for e in levels], list(iteration))

        @cache
        def inner(far: int) -> isl.Set:
            return _inner(values, far)

        @cache
        def one(far: int) -> isl.Set:
            return _as_parameters(inner(far), [*outer, last])

        @cache
        def every(far: int) -> isl.Set:
            return _as_parameters(inner(far).project_out(isl.dim_type.set, len(outer), 1), outer)

        header = query.header(levels[-1].loop)
        assert header is not None
        name = levels[-1].variable
        return Footprint(
            name,
            header.kind,
            len(levels),
            self._count([_as_parameters(values, outer)], f"trips of {name}", every),
            self._extent(levels[-1], _as_parameters(ranges, outer), every),
            self._cells(self.sets.touched(inside, iteration), f"in one {name}", one),
        )

    def _extent(self, level: Level, values: isl.Set, around: Around) -> Formula | None:
        literal = hardware.trip_count(level.loop)
        if literal is not None:
            return Formula.number(literal)
        return self._count([values], f"extent of {level.variable}", around)

    # --- arrays -----------------------------------------------------------------------------------

    def _made(self, sets: Touched) -> dict[str, tuple[Formula | None, ...] | None]:
        found: dict[str, tuple[Formula | None, ...] | None] = {}
        for statement in self.model.statements:
            made = query.allocation(statement.leaf.node)
            if made is None:
                continue
            extents = sets.extents(made, statement)
            if extents is None:
                found[made.array] = found.get(like(made, statement))
            else:
                found[made.array] = tuple(None if e is None else self._largest(e) for e in extents)
        return found

    def _largest(self, values: isl.Set) -> Formula | None:
        def largest(symbolic: Symbolic) -> Formula:
            return Formula.linear(*symbolic.linear(values.dim_max(0)))

        return self._first(largest, "the size of an array")


def unknown_cells(model: Model) -> frozenset[str]:
    """The arrays that have accesses of which it is not known where they are."""
    return frozenset(
        access.array
        for each in model.statements
        for access in (*each.reads, *each.writes)
        if access.array in model.names.ranks and not access.is_exact
    )


def _inner(values: isl.Set, trips: int) -> isl.Set:
    """The iterations that have so many before and after them; all where an outer one has none."""
    size = int(values.dim(isl.dim_type.set))
    for axis in range(size):
        outer = values.project_out(isl.dim_type.set, axis + 1, size - axis - 1)
        step = trips * int(outer.get_stride(axis).to_python())
        inner = outer.intersect(_moved(outer, axis, step)).intersect(_moved(outer, axis, -step))
        some = inner.project_out(isl.dim_type.set, axis, 1).add_dims(isl.dim_type.set, 1)
        kept = inner.union(outer.subtract(some)).coalesce()
        values = values.intersect(kept.add_dims(isl.dim_type.set, size - axis - 1))
    return values


def _moved(values: isl.Set, axis: int, distance: int) -> isl.Set:
    names = [f"x{k}" for k in range(int(values.dim(isl.dim_type.set)))]
    after = [f"{each} + {distance}" if k == axis else each for k, each in enumerate(names)]
    text = f"{{ [{', '.join(names)}] -> [{', '.join(after)}] }}"
    return values.apply(isl.Map.read_from_str(values.get_ctx(), text))


def _as_parameters(values: isl.Set, names: Sequence[str]) -> isl.Set:
    """The first dimensions of a set as parameters; a set of parameters when that is all of them."""
    for axis, name in enumerate(names):
        values = values.set_dim_name(isl.dim_type.set, axis, name)
    count = int(values.dim(isl.dim_type.param))
    moved = values.move_dims(isl.dim_type.param, count, isl.dim_type.set, 0, len(names))
    return moved if int(moved.dim(isl.dim_type.set)) else moved.params()
