"""Cutting a nest to the iterations that touch a box of an array."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from astile.analysis import affine, intervals
from astile.analysis.affine import Affine
from astile.analysis.context import Context
from astile.analysis.footprint import AtMost, Side
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.rewrites.result import Editor, is_guard, range_call


def at_most_in(edit: Editor, node: ast.For) -> AtMost:
    """Decides ``one <= other`` for forms over the loops around and including `node`."""
    around = [*edit.place(node).loops, node]
    ranges = intervals.ranges_of(around)
    inner = node.body[0]

    def at_most(one: Affine, other: Affine) -> bool:
        gap = other - one
        if gap.value is not None:
            return gap.value >= 0
        if intervals.is_nonnegative(gap, ranges):
            return True
        condition = nodes.compare(one.expression(), ast.LtE, other.expression())
        return bool(Context.at(edit.program, inner).implies(condition))

    return at_most


@dataclass
class _Cut:
    """How one loop of the spine is cut: its new header, and conditions on its old range."""

    loop: ast.For
    iterator: ast.expr
    value: ast.expr | None
    guards: list[ast.expr]


def restricted_nest(
    edit: Editor,
    nest: ast.stmt,
    array: str,
    sides: Sequence[Side | None],
    at: ast.For,
    beside: Sequence[ast.stmt],
    *,
    writes: bool,
) -> ast.stmt:
    """A copy of a nest that runs only the iterations that touch cells of a box.

    Args:
        edit: the program that is edited.
        nest: the producer's nest.
        array: the array that the box is of.
        sides: the box, in terms of the loops around and including `at`.
        at: the loop into which the copy goes.
        beside: statements beside which it will stand; its names do not clash with theirs.
        writes: whether to run each iteration that writes a cell of the box (a producer), or
            each whose last read is a cell of the box (a consumer).
    """
    taken = {edit.header(each).variable for each in (*edit.place(at).loops, at)}
    taken |= {name for each in beside for name in query.names(each)}
    clashing = sorted(query.names_written(nest) & taken)
    nest = nodes.rename(nest, {name: edit.fresh_name(name) for name in clashing})
    spine, guards, body = _spine(nest)
    body, spine = _collapsed(edit, spine, guards, body, _touching(body, array, writes))
    cuts = [
        _cut(edit, each, spine, _touching(body, array, writes), sides, writes=writes)
        for each in spine
    ]
    return _assembled(edit, nest, cuts, guards, body)


def _spine(nest: ast.stmt) -> tuple[list[ast.For], list[ast.expr], list[ast.stmt]]:
    """The loops that stand alone in each other, the guards between them, the body inside."""
    spine: list[ast.For] = []
    guards: list[ast.expr] = []
    body: list[ast.stmt] = [nest]
    while (only := query.only_statement(body)) is not None:
        if isinstance(only, ast.For) and query.header(only) is not None:
            spine.append(only)
        elif is_guard(only) and isinstance(only, ast.If):
            guards.append(only.test)
        else:
            break
        body = only.body
    return spine, guards, body


def _collapsed(
    edit: Editor,
    spine: list[ast.For],
    guards: list[ast.expr],
    body: list[ast.stmt],
    writes: Sequence[ast.Subscript],
) -> tuple[list[ast.stmt], list[ast.For]]:
    """Undo splits: loops that only occur as ``i_0 * 16 + i_1`` become one loop over it.

    With ``i_0 := 0`` and the range of ``i_1`` widened to that of the sum, the text that names
    only the sum keeps its meaning.
    """
    loops = list(spine)
    for access in writes[:1]:
        for index in query.indices(access):
            form = affine.of(index)
            digits = [each for each in loops if form.coefficient(edit.header(each).variable)]
            if len(digits) < 2:
                continue
            digits.sort(key=lambda each: -abs(form.coefficient(edit.header(each).variable)))
            if not _is_mixed_radix(edit, form, digits):
                continue
            last = digits[-1]
            total = affine.constant(0)
            for each in digits:
                header = edit.header(each)
                stop = affine.of(header.stop) - 1
                total = total + stop * form.coefficient(header.variable)
            values: dict[str, ast.expr] = {
                edit.header(each).variable: nodes.const(0) for each in digits[:-1]
            }
            body = [nodes.substitute(each, values) for each in body]
            guards[:] = [nodes.substitute(each, values) for each in guards]
            merged = edit.new_loop(
                edit.header(last).variable,
                range_call(nodes.const(0), (total + 1).expression()),
                [],
                last,
            )
            loops = [merged if each is last else each for each in loops if each not in digits[:-1]]
    return body, loops


def _is_mixed_radix(edit: Editor, form: Affine, digits: Sequence[ast.For]) -> bool:
    scale = 1
    for each in reversed(digits):
        header = edit.header(each)
        if form.coefficient(header.variable) != scale or not query.is_constant(header.start, 0):
            return False
        length = query.integer(header.stop)
        if each is not digits[0]:
            if length is None:
                return False
            scale *= length
    return True


def _touching(body: Sequence[ast.stmt], array: str, writes: bool) -> list[ast.Subscript]:
    kind = ast.Store if writes else ast.Load
    return [each for s in body for each in query.accesses(s, array) if isinstance(each.ctx, kind)]


def _cut(
    edit: Editor,
    loop: ast.For,
    spine: Sequence[ast.For],
    accesses: Sequence[ast.Subscript],
    sides: Sequence[Side | None],
    *,
    writes: bool,
) -> _Cut:
    """How to cut one loop, by the axis of the array that its variable runs along."""
    header = edit.header(loop)
    whole = _Cut(loop, nodes.clone(loop.iter), None, [])
    if header.kind != "range":
        whole.iterator = range_call(header.start, header.stop, header.step)
    along = {
        (axis, affine.of(index))
        for access in accesses
        for axis, index in enumerate(query.indices(access))
        if affine.of(index).coefficient(header.variable)
    }
    axes = {axis for axis, _ in along}
    linear = {Affine(form.terms) for _, form in along}
    if len(axes) != 1 or len(linear) != 1 or not query.is_constant(header.step, 1):
        return whole
    side = sides[next(iter(axes))] if max(axes) < len(sides) else None
    form = next(iter(linear))
    others = {edit.header(each).variable for each in spine if each is not loop}
    if side is None or form.without(header.variable).names() & others:
        return whole
    constants = [each.constant for _, each in along]
    # a consumer runs when its greatest index was written, a producer when any index is needed
    least = min(constants) if writes else max(constants)
    first = side.first - form.without(header.variable) - max(constants)
    last = side.last - form.without(header.variable) - least
    return _solved(edit, loop, whole, form.coefficient(header.variable), first, last)


def _solved(
    edit: Editor, loop: ast.For, whole: _Cut, coefficient: int, first: Affine, last: Affine
) -> _Cut:
    """Solve ``first <= coefficient * v <= last`` for the loop's variable ``v``."""
    header = edit.header(loop)
    if coefficient < 0:
        first, last, coefficient = -last, -first, -coefficient
    low = affine.floor_div(first + (coefficient - 1), coefficient)
    high = affine.floor_div(last, coefficient)
    extent = affine.floor_div(last - first, coefficient) + 1
    start, stop = affine.of(header.start), affine.of(header.stop)
    if low == start and high + 1 == stop:
        return whole
    if extent.value is not None:
        value = low + affine.variable(header.variable)
        iterator = range_call(nodes.const(0), extent.expression())
    else:
        value = affine.variable(header.variable)
        iterator = range_call(low.expression(), (high + 1).expression())
    guards: list[ast.expr] = [
        nodes.compare(start.expression(), ast.LtE, value.expression()),
        nodes.compare(value.expression(), ast.Lt, stop.expression()),
    ]
    return _Cut(loop, iterator, value.expression(), guards)


def _assembled(
    edit: Editor,
    nest: ast.stmt,
    cuts: Sequence[_Cut],
    guards: Sequence[ast.expr],
    body: Sequence[ast.stmt],
) -> ast.stmt:
    values = {edit.header(c.loop).variable: c.value for c in cuts if c.value is not None}
    inside: list[ast.stmt] = [nodes.substitute(each, values) for each in body]
    conditions = [nodes.substitute(each, values) for each in guards]
    conditions += [each for cut in cuts for each in cut.guards]
    if conditions:
        inside = [nodes.if_then(nodes.conjunction(conditions), inside)]
    for cut in reversed(cuts):
        variable = edit.header(cut.loop).variable
        outer = {name: value for name, value in values.items() if name != variable}
        loop = edit.new_loop(variable, nodes.substitute(cut.iterator, outer), inside, cut.loop)
        edit.forget(cut.loop, f"it was moved, as the loop over {variable}")
        inside = [loop]
    if not cuts:
        raise ScheduleError(
            "this stage is not computed in a loop", code="schedule.no-loop", span=edit.span(nest)
        )
    return inside[0]
