"""What a program moves and computes as formulas over its sizes, where these are short ones.

The sets are those that `traffic` counts for given sizes. A formula holds for all sizes that are
large enough, for which no tile is the only one; nothing is fitted or sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from astile.analysis import isl
from astile.analysis.counts.formulas import Formula, total
from astile.analysis.counts.symbolic import NoFormulaError, Symbolic
from astile.analysis.counts.touched import Touched, is_inside, like
from astile.analysis.counts.traffic import estimated, operations
from astile.analysis.forms.params import extent_name
from astile.analysis.reading.instances import Model, Statement
from astile.analysis.reading.statements import Level
from astile.ir import query

#: Sizes from which on formulas are looked for, one after the other.
_SIZES = (4, 64, 1024)
#: A longer formula is none that people read.
_LONGEST = 72
#: isl's names of the iteration that a footprint is of.
_AT = "at_"

#: A number of cells of each array; None where there is no formula.
Cells = Mapping[str, Formula | None]


@dataclass(frozen=True)
class Span:
    """The cells of each array that one iteration of a loop touches, away from both of its ends.

    Args:
        loop: the variable of the loop; empty for a nest as a whole.
        kind: ``"range"``, ``"parallel"``, ``"block.x"``, ...; empty for a nest as a whole.
        depth: how many loops are around it.
        trips: how many iterations the loop has there.
        cells: array -> number of cells.
    """

    loop: str
    kind: str
    depth: int
    trips: Formula | None
    cells: Cells


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
    """

    nests: tuple[Moves, ...]
    operations: Formula | None
    spans: tuple[tuple[Span, ...], ...]
    made: Mapping[str, tuple[Formula | None, ...] | None]
    least: int


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
        self.made = self._made(Touched(model, {}, {}))
        guessed = {each: self._extents(each) for each in estimated(model)}
        self.sets = Touched(model, {}, guessed)

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
        counts = [self._count([self._domain(each)], None) for _, each in runs]
        known = [each.times(number) for each, (number, _) in zip(counts, runs, strict=True) if each]
        return General(
            tuple(map(self._moves, every)),
            total(known) if len(known) == len(runs) else None,
            tuple(tuple(self._spans(each)) for each in every),
            self.made,
            self.least,
        )

    # --- counting ---------------------------------------------------------------------------------

    def _cells(self, cells: isl.UnionSet, around: isl.Set | None) -> dict[str, Formula | None]:
        sets: dict[str, list[isl.Set]] = {}
        for name, piece in self.sets.pieces(cells):
            sets.setdefault(name, []).append(piece)
        return {name: self._count(each, around) for name, each in sets.items()}

    def _count(self, sets: Sequence[isl.Set], around: isl.Set | None) -> Formula | None:
        """The number of points of sets, for sizes as small as possible; None without a formula.

        Args:
            sets: have no point in common.
            around: values of parameters to which it is limited.
        """
        return self._first(lambda each: total(map(each.count, sets)), around)

    def _first(self, ask: Callable[[Symbolic], Formula], around: isl.Set | None) -> Formula | None:
        for least in _SIZES:
            context = self._context(least)
            if around is not None:
                context = context.intersect(around)
            try:
                found = _short(ask(Symbolic(context, self.names)))
            except (NoFormulaError, isl.Error):  # isl spends no more than its budget
                continue
            self.least = max(self.least, least)
            return found
        return None

    def _context(self, least: int) -> isl.Set:
        parameters = self.model.parameters
        known = " and ".join(f"{each} >= {least}" for each in parameters) or "true"
        return self.model.session.set(f"[{', '.join(parameters)}] -> {{ : {known} }}")

    def _moves(self, statements: Sequence[Statement]) -> Moves:
        blocks = self.sets.of_blocks(statements)
        return Moves(
            self._cells(self.sets.read(statements), None),
            self._cells(self.sets.written(statements), None),
            None if blocks is None else self._cells(blocks.read, None),
            None if blocks is None else self._cells(blocks.written, None),
        )

    # --- footprints -------------------------------------------------------------------------------

    def _domain(self, statement: Statement) -> isl.Set:
        place = statement.leaf.place
        return self.sets.iterations(place.constraints, place.dimensions)

    def _spans(self, statements: Sequence[Statement]) -> Iterator[Span]:
        yield Span("", "", 0, None, self._cells(self.sets.touched(statements, {}), None))
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
        inner, (*outer, last) = _inner(values), iteration.values()
        around = _as_parameters(inner, [*outer, last])
        further = inner.project_out(isl.dim_type.set, len(outer), 1)
        header = query.header(levels[-1].loop)
        assert header is not None
        return Span(
            levels[-1].variable,
            header.kind,
            len(levels),
            self._count([_as_parameters(values, outer)], _as_parameters(further, outer)),
            self._cells(self.sets.touched(inside, iteration), around),
        )

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

        return self._first(largest, None)


def _short(formula: Formula) -> Formula:
    if len(str(formula)) > _LONGEST:
        raise NoFormulaError
    return formula


def _inner(values: isl.Set) -> isl.Set:
    """The iterations that have neighbours in every loop; ends too where all are ends."""
    for axis in range(int(values.dim(isl.dim_type.set))):
        step = int(values.get_stride(axis).to_python())
        inner = values
        for distance in (step, -step):
            inner = inner.intersect(_moved(values, axis, distance))
        values = values if inner.is_empty() else inner
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
