"""Cutting a nest to the iterations that touch a box of an array."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from astile.analysis.extents.footprint import Access, AtMost, Side, accesses_inside
from astile.analysis.forms import affine, intervals
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.intervals import Range
from astile.analysis.reading.context import Contexts
from astile.analysis.reading.statements import survey
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.query import Header
from astile.rewrites.parts.collapse import collapsed
from astile.rewrites.parts.result import Editor, conditions, is_guard, range_call
from astile.rewrites.parts.trips import trip_count, value_at

#: The box of one array, side by side.
Box = Sequence[Side | None]


def at_most_in(edit: Editor, node: ast.For) -> AtMost:
    """Decides ``one <= other`` for forms over the loops around and including `node`."""
    ranges = intervals.ranges_of([*edit.place(node).loops, node])
    context = Contexts(edit.program).at(node.body[0])
    known: dict[tuple[Affine, Affine], bool] = {}

    def at_most(one: Affine, other: Affine) -> bool:
        gap = other - one
        if gap.value is not None:
            return gap.value >= 0
        if (one, other) not in known:
            known[one, other] = intervals.is_nonnegative(gap, ranges) or bool(
                context.nonnegative(gap.expression())
            )
        return known[one, other]

    return at_most


def cuttable_loops(edit: Editor, nest: ast.stmt) -> set[int]:
    """Identities of the loops of a nest that may run fewer iterations: not those inside a leaf."""
    found = survey(edit.program)
    leaves = {id(each.node) for each in found.leaves}
    loops = [each for each in query.loops(nest) if found.place(each) and id(each) not in leaves]
    return {identity for each in loops if (identity := nodes.loop_id(each)) is not None}


def restricted_nest(
    edit: Editor,
    nest: ast.stmt,
    boxes: Mapping[str, Box],
    at: ast.For,
    at_most: AtMost,
    *,
    writes: bool,
    stays: bool = False,
) -> list[ast.stmt]:
    """A copy of a nest that runs only the iterations that touch cells of a box.

    Args:
        edit: the program that is edited.
        nest: the producer's or consumer's nest.
        boxes: array -> box, in terms of the loops around and including `at`. For a consumer of
            several arrays the last one decides, and others whose box has the same sides.
        at: the loop into whose body the copy goes.
        at_most: decides which of two forms over those loops is the smaller one.
        writes: whether to run each iteration that writes a cell of the box (a producer), or
            each whose last read is a cell of the box (a consumer).
        stays: whether the copy takes the nest's own place, so that its names are free there.

    Raises:
        ScheduleError: when a loop of the nest is bound, or there is none.
    """
    cuttable = cuttable_loops(edit, nest)
    _check_movable(edit, nest)
    nest = nodes.rename(nest, {} if stays else _other_names(edit, nest, at))
    array = list(boxes)[-1]
    nest = collapsed(edit, nest, array, cuttable, writes=writes)
    return _Cutter(edit, boxes, at_most, cuttable, writes).block([nest], [])


def _check_movable(edit: Editor, nest: ast.stmt) -> None:
    loops = query.loops(nest)
    if not loops:
        raise ScheduleError(
            "this stage is not computed in a loop",
            code="schedule.no-loop",
            hints=["name a stage that is computed in loops"],
            span=edit.span(nest),
        )
    for each in loops:
        header = query.header(each)
        if header is not None and (header.is_bound or header.kind == "parallel"):
            raise ScheduleError(
                f"{header.variable} is already {header.kind}",
                code="schedule.already-bound",
                span=edit.span(each),
                hints=["interleave the stages first, then bind the loops"],
            )


def _other_names(edit: Editor, nest: ast.stmt, at: ast.For) -> dict[str, str]:
    """New names for what the nest assigns and the statements around its new place use."""
    around = (*edit.place(at).loops, at)
    taken = {name for each in around for name in query.names_written(each.target)}
    inside: set[str] = set()
    flowing: set[str] = set()
    for each in at.body:
        inside |= query.names(each)
        flowing |= query.names_read(each)
    flowing -= {name for each in at.body for name in query.names_written(each)}
    clashing = query.names_written(nest) & (taken | inside) - (flowing - taken)
    return {name: edit.fresh_name(name) for name in sorted(clashing)}


@dataclass(frozen=True)
class _Solution:
    """How one loop runs: its new range, the old variable's value, and conditions on it.

    Without a range there is one iteration, and no loop.
    """

    iterator: ast.expr | None
    value: ast.expr
    guards: tuple[ast.expr, ...]


@dataclass(frozen=True)
class _Window:
    """``first <= coefficient * variable <= last``."""

    coefficient: int
    first: Affine
    last: Affine


class _Cutter:
    """Cuts all loops of a nest, outermost first."""

    def __init__(
        self,
        edit: Editor,
        boxes: Mapping[str, Box],
        at_most: AtMost,
        cuttable: set[int],
        writes: bool,
    ) -> None:
        self.edit, self.boxes, self.at_most = edit, boxes, at_most
        self.cuttable, self.writes = cuttable, writes

    def block(self, body: Sequence[ast.stmt], pending: list[ast.expr]) -> list[ast.stmt]:
        """Statements with their loops cut; `pending` are guards that go as far inside as they can.

        Guards meet below the loops that are cut, so that these stay next to each other.
        """
        only = query.only_statement(body)
        if isinstance(only, ast.If) and is_guard(only):
            return self.block(only.body, [*pending, *conditions(only)])
        if isinstance(only, ast.For) and not _names(pending) & query.names_written(only):
            solution = self._solution(only)
            if solution is not None:
                return self._cut(only, solution, pending)
        inside = [made for each in body for made in self.statement(each)]
        return [nodes.if_then(nodes.conjunction(pending), inside)] if pending else inside

    def statement(self, statement: ast.stmt) -> list[ast.stmt]:
        """One statement, with the loops inside it cut."""
        if isinstance(statement, ast.For):
            if nodes.loop_id(statement) not in self.cuttable:
                return [statement]
            solution = self._solution(statement)
            if solution is not None:
                return self._cut(statement, solution, [])
            statement.body = self.block(statement.body, [])
        if isinstance(statement, ast.If):
            statement.body = self.block(statement.body, [])
            if statement.orelse:
                statement.orelse = self.block(statement.orelse, [])
        return [statement]

    def _cut(
        self, loop: ast.For, solution: _Solution, pending: Sequence[ast.expr]
    ) -> list[ast.stmt]:
        header = self.edit.header(loop)
        values = {header.variable: solution.value}
        body: list[ast.stmt] = [nodes.substitute(each, values) for each in loop.body]
        inside = self.block(body, [*pending, *solution.guards])
        if solution.iterator is None:
            self.edit.forget(loop, "where it was moved it has one iteration, and no loop")
            return inside
        self.edit.forget(loop, f"it was moved, as the loop over {header.variable}")
        return [self.edit.new_loop(header.variable, solution.iterator, inside, loop)]

    def _solution(self, loop: ast.For) -> _Solution | None:
        header = query.header(loop)
        if header is None or nodes.loop_id(loop) not in self.cuttable:
            return None
        step = query.integer(header.step)
        window = self._window(loop, header)
        if not step or window is None:
            return None
        if step == 1:
            start, stop, window = affine.of(header.start), affine.of(header.stop), window
            return self._solved(header, start, stop, window, lambda trip: trip.expression())
        # a loop in steps is one over trips from 0
        offset = affine.of(header.start) * window.coefficient
        first, last = window.first - offset, window.last - offset
        window = _Window(window.coefficient * step, first, last)
        stop = trip_count(header)
        zero = affine.constant(0)
        return self._solved(header, zero, stop, window, lambda trip: value_at(header, trip))

    def _window(self, loop: ast.For, header: Header) -> _Window | None:
        """The values of a loop variable with which the box is touched, by the first axis known."""
        places = _places(loop)
        if header.variable not in places:  # a loop that gathers
            return None
        array, box = list(self.boxes.items())[-1]
        for axis, side in enumerate(box):
            if side is None:
                continue
            names = [
                each
                for each, other in self.boxes.items()
                if each == array or (axis < len(other) and other[axis] == side)
            ]
            found = [a for each in names for a in accesses_inside(loop.body, each)]
            touching = [e for e in found if (e.is_written if self.writes else e.is_read)]
            window = self._along(header.variable, touching, axis, side, places)
            if window is not None:
                return window
        return None

    def _along(
        self,
        variable: str,
        touching: Sequence[Access],
        axis: int,
        side: Side,
        places: set[str],
    ) -> _Window | None:
        """The window along one axis, from what an iteration touches of it at least and at most.

        A consumer's iteration has its place where its greatest index was written, whatever else
        the loops that gather for it read; a producer's is needed when any of its indices is.
        """
        least: Affine | None = None
        most: Affine | None = None
        coefficients = set()
        for each in touching:
            form = affine.of(query.indices(each.node)[axis])
            coefficients.add(form.coefficient(variable))
            rest = form.without(variable)
            gathers = set() if self.writes else {r.variable for r in each.inner} - places
            low, high = _bounds(rest, each.inner, gathers)
            inner = {one.variable for one in each.inner}
            if rest.mentions(variable) or (low.names() | high.names()) & inner:
                return None
            least = low if least is None else _extreme(least, low, least=self.writes)
            most = high if most is None else _extreme(most, high, least=False)
            if least is None or most is None:
                return None
        if least is None or most is None or len(coefficients) != 1 or 0 in coefficients:
            return None
        return _Window(coefficients.pop(), side.first - most, side.last - least)

    def _solved(
        self,
        header: Header,
        start: Affine,
        stop: Affine,
        window: _Window,
        value_of: Callable[[Affine], ast.expr],
    ) -> _Solution | None:
        """The trips from `start` to `stop` inside a window; None when that is all of them."""
        coefficient, first, last = window.coefficient, window.first, window.last
        if coefficient < 0:
            coefficient, first, last = -coefficient, -last, -first
        low = affine.floor_div(first + (coefficient - 1), coefficient)
        high = affine.floor_div(last, coefficient)
        from_start, to_stop = self.at_most(low, start), self.at_most(stop - 1, high)
        if from_start and to_stop:
            return None
        extent = affine.floor_div(last - first, coefficient) + 1
        if extent.value is None or extent.value < 1:
            begin = self._greater(start, low)
            end = self._lesser(stop, high + 1)
            kind = "range" if header.kind == "unroll" else header.kind
            iterator = range_call(begin.expression(), end.expression(), kind=kind)
            return _Solution(iterator, value_of(affine.variable(header.variable)), ())
        is_one = extent.value == 1
        trip = low if is_one else low + affine.variable(header.variable)
        guards: list[ast.expr] = []
        if not self.at_most(start, low):
            guards.append(nodes.compare(start.expression(), ast.LtE, trip.expression()))
        if coefficient > 1:
            guards.append(nodes.compare(trip.expression(), ast.LtE, high.expression()))
        guards.append(nodes.compare(trip.expression(), ast.Lt, stop.expression()))
        iterator = range_call(nodes.const(0), extent.expression(), kind=header.kind)
        return _Solution(None if is_one else iterator, value_of(trip), tuple(guards))

    def _greater(self, one: Affine, other: Affine) -> Affine:
        if self.at_most(one, other):
            return other
        if self.at_most(other, one):
            return one
        return affine.extreme("max", [one, other])

    def _lesser(self, one: Affine, other: Affine) -> Affine:
        if self.at_most(one, other):
            return one
        if self.at_most(other, one):
            return other
        return affine.extreme("min", [one, other])


def _names(expressions: Sequence[ast.expr]) -> set[str]:
    return set().union(*(query.names(each) for each in expressions))


def _places(loop: ast.For) -> set[str]:
    """Names in the indices of what is written inside a loop: they tell where a value goes."""
    found: set[str] = set()
    for each in loop.body:
        for access in query.accesses(each):
            if isinstance(access.ctx, ast.Store):
                found |= query.names(access.slice)
    return found


def _bounds(form: Affine, ranges: Sequence[Range], gathers: set[str]) -> tuple[Affine, Affine]:
    """The least and the greatest value of a form; of variables that gather only the greatest."""
    low = high = form
    for each in reversed(ranges):
        bound = intervals.highest if each.variable in gathers else intervals.lowest
        low, high = bound(low, [each]), intervals.highest(high, [each])
    return low, high


def _extreme(one: Affine, other: Affine, *, least: bool) -> Affine | None:
    """The lesser or greater of two forms that differ by a number, else None."""
    gap = (other - one).value
    if gap is None:
        return None
    return other if (gap < 0) == least and gap else one
