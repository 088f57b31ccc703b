"""What a program moves and computes as formulas over its sizes, where these are short ones.

The sets are those that `traffic` counts for given sizes. A formula holds for all sizes that are
large enough, for which no tile is the only one; nothing is fitted or sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from astile.analysis import isl
from astile.analysis.counts.formulas import Formula, total
from astile.analysis.counts.middle import AT, Middle
from astile.analysis.counts.parts import NoFormulaError
from astile.analysis.counts.per_loop import Footprint
from astile.analysis.counts.symbolic import Symbolic
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

#: What all formulas and one may cost, in seconds of a slow machine: what is not found has none.
_SECONDS, _EACH = 4.0, 0.4
#: After so many questions without an answer none is asked.
_MOST_LATE = 10
#: How many of the iterations before an end are left out, one after the other.
_FROM_ENDS = (1, 4)
#: Why there is no formula, where it is no matter of the sizes.
_LONG, _LATE = "it is too long to be read", "none was found in time"
_UNBOUNDED = "the extents of the array do not follow from the arguments"

T = TypeVar("T")
#: A number of cells of each array; None where there is no formula.
Cells = Mapping[str, Formula | None]
#: How far from the ends of loops, the least size and what it means for parameters -> iterations.
Around = Callable[[int, int, isl.Set], isl.Set]
#: Statements, and which of their arrays -> cells.
Asked = Callable[[Sequence[Statement], Container[str]], isl.UnionSet]
#: What one iteration of each loop touches.
Span = Footprint[Formula | None]


@dataclass(frozen=True)
class Moves:
    """The cells in slow memory that one nest reads from outside of it, and that it writes.

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
        self.whole, self.late, self.reason = isl.Budget(_SECONDS), 0, _LATE
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
        counts = [self._runs(each) for _, each in runs]
        known = [each.times(number) for each, (number, _) in zip(counts, runs, strict=True) if each]
        return General(
            tuple(map(self._moves, every)),
            total(known) if len(known) == len(runs) else None,
            tuple(tuple(self._spans(each)) for each in every),
            self.made,
            self.least,
            {reason: tuple(each) for reason, each in self.reasons.items()},
        )

    def _runs(self, statement: Statement) -> Formula | None:
        return self._first(lambda each: each.count(self._domain(statement)), "operations")

    # --- counting ---------------------------------------------------------------------------------

    def _cells(
        self,
        ask: Callable[[], isl.UnionSet],
        arrays: Iterable[str],
        what: str,
        around: Around | None = None,
    ) -> dict[str, Formula | None]:
        """Array -> number of its cells in a set; None for all `arrays` when it takes too long."""
        pieces = self._in_time(lambda: list(self.sets.pieces(ask())))
        if pieces is None:
            for each in (unknown := dict.fromkeys(arrays)):
                self._tell(f"{each} {what}")
            return unknown
        sets: dict[str, list[isl.Set]] = {}
        for name, piece in pieces:
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
        """The formula for the smallest sizes for which one is found.

        What was found before holds for no smaller ones, and where the largest of all have no
        formula there is none.
        """
        now, *larger = (each for each in _SIZES if each >= self.least)
        chosen, found = now, self._from(now, ask, around)
        if found is None and larger:
            *between, most = larger
            chosen, found = most, self._from(most, ask, around)
            for each in between if found is not None else ():
                smaller = self._from(each, ask, around)
                if smaller is not None:
                    chosen, found = each, smaller
                    break
        if found is None:
            self._tell(what)
        else:
            self.least = chosen
        return found

    def _from(
        self, least: int, ask: Callable[[Symbolic], Formula], around: Around | None
    ) -> Formula | None:
        """The formula for sizes of at least `least`; None without one, for `self.reason`."""

        def asked(far: int) -> Formula:
            context = self._context(least)
            if around is not None:
                context = around(far, least, context)
            found = ask(Symbolic(context, self.names))
            if len(str(found)) > _LONGEST:
                raise NoFormulaError(_LONG)
            return found

        for far in (0,) if around is None else _FROM_ENDS:
            found = self._in_time(partial(asked, far))
            if found is not None:
                return found
        return None

    def _in_time(self, ask: Callable[[], T]) -> T | None:
        """What isl answers within the time for one question; None for `self.reason`."""
        if self.late >= _MOST_LATE or self.whole.is_late():
            self.reason = _LATE
            return None
        session = self.model.session
        session.begin(isl.Budget(_EACH))
        try:
            return ask()
        except NoFormulaError as error:
            self.reason = str(error)
        except isl.Error as error:
            is_late = session.is_budget(error)
            self.late += is_late
            self.reason = _LATE if is_late else _UNBOUNDED
        finally:
            session.begin(None)
        return None

    def _context(self, least: int) -> isl.Set:
        parameters = self.model.parameters
        known = " and ".join(f"{each} >= {least}" for each in parameters) or "true"
        return self.model.session.set(f"[{', '.join(parameters)}] -> {{ : {known} }}")

    def _tell(self, what: str) -> None:
        self.reasons.setdefault(self.reason, {})[what] = None

    def _moves(self, statements: Sequence[Statement]) -> Moves:
        sets, slow = self.sets, self._slow()
        arrays = [self._arrays(statements, kind) for kind in ("reads", "writes")]

        def cells(number: int, what: str, ask: Asked) -> Cells:
            own = [each for each in arrays[number] if each in slow]
            return self._cells(lambda: ask(statements, slow), own, what)

        read, written = cells(0, "read", sets.read), cells(1, "written", sets.written)
        if not sets.has_blocks(statements):
            return Moves(read, written, None, None)
        return Moves(
            read,
            written,
            cells(0, "read by blocks", sets.read_by_blocks),
            cells(1, "written by blocks", sets.written_by_blocks),
        )

    def _slow(self) -> set[str]:
        """The arrays in slow memory."""
        made = (query.allocation(each.leaf.node) for each in self.model.statements)
        fast = {each.array for each in made if each is not None and each.scope != "global"}
        return set(self.model.names.ranks) - fast

    def _arrays(self, statements: Sequence[Statement], *kinds: str) -> list[str]:
        """The arrays that statements read or write, in order."""
        every = (a.array for e in statements for kind in kinds for a in getattr(e, kind))
        return [each for each in dict.fromkeys(every) if each in self.model.names.ranks]

    # --- footprints -------------------------------------------------------------------------------

    def _domain(self, statement: Statement) -> isl.Set:
        place = statement.leaf.place
        return self.sets.iterations(place.constraints, place.dimensions)

    def _spans(self, statements: Sequence[Statement]) -> Iterator[Span]:
        yield Footprint("", "", 0, None, None, self._touched(statements, {}, "in a nest", None))
        seen: set[int] = set()
        for statement in statements:
            levels = statement.leaf.place.levels
            middle = Middle(self._domain(statement), levels, self.sets.iterations)
            for depth, level in enumerate(levels, 1):
                if id(level.loop) not in seen:
                    seen.add(id(level.loop))
                    inside = [each for each in statements if is_inside(each, level)]
                    yield self._span(middle, levels[:depth], inside)

    def _touched(
        self,
        statements: Sequence[Statement],
        iteration: Mapping[str, str],
        what: str,
        around: Around | None,
    ) -> Cells:
        arrays = self._arrays(statements, "reads", "writes")
        return self._cells(lambda: self.sets.touched(statements, iteration), arrays, what, around)

    def _span(self, middle: Middle, levels: Sequence[Level], inside: Sequence[Statement]) -> Span:
        iteration = {each.dimension: f"{AT}{each.dimension}" for each in levels}
        self.names |= {f"{AT}{each.dimension}": each.variable for each in levels}
        depth, level = len(levels), levels[-1]
        outer, here = (partial(middle.within, each) for each in (depth - 1, depth))
        header = query.header(level.loop)
        assert header is not None
        name, literal = level.variable, hardware.trip_count(level.loop)
        return Footprint(
            name,
            header.kind,
            depth,
            self._values(lambda: middle.trips(depth), f"trips of {name}", outer),
            Formula.number(literal)
            if literal is not None
            else self._values(lambda: middle.ranges(depth), f"extent of {name}", outer),
            self._touched(inside, iteration, f"in one {name}", here),
        )

    def _values(self, ask: Callable[[], isl.Set], what: str, around: Around) -> Formula | None:
        return self._first(lambda each: each.count(ask()), what, around)

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
