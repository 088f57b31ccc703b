"""`merge`: two loops beside each other into one loop over both bodies."""

from __future__ import annotations

import ast

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.analysis.reading.context import Context
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.query import Header
from astile.rewrites.parts.result import Editor, Rewritten, check_replaceable, is_guard, range_call


def merge(program: Program, first: int, second: int) -> Rewritten:
    """Run the bodies of two neighbouring loops in one loop, iteration by iteration.

    Iterations are paired by the value of the variable. Where the ranges differ the loop runs
    over both, and each body is guarded. For nested loops see `fuse`.

    Args:
        program: the program before.
        first: identity of the earlier loop.
        second: identity of the later loop.

    Raises:
        ScheduleError: when the loops do not stand beside each other, differ in step, or are
            bound to hardware.

    Before:
        for i in range(n):
            a[i] = x[i] * 2
        for k in range(n - 1):
            b[k] = a[k] + 1

    After ``merge(i, k)``:
        for i in range(n):
            a[i] = x[i] * 2
            if i < n - 1:
                b[i] = a[i] + 1
    """
    edit = Editor(program)
    one, other = edit.loop(first), edit.loop(second)
    header, other_header = edit.header(one), edit.header(other)
    _leave_guards(edit, one, other)
    _check(edit, one, other)
    check_replaceable(edit, other, other_header)
    variable = {other_header.variable: nodes.name(header.variable)}
    later = [nodes.substitute(each, variable) for each in other.body]
    start, stop = _union(edit, one, header, other_header)
    descends = (query.integer(header.step) or 1) < 0
    body = [
        *_guarded(one.body, header, header, start, stop, descends),
        *_guarded(later, other_header, header, start, stop, descends),
    ]
    merged = edit.new_loop(
        header.variable, range_call(start.expression(), stop.expression(), header.step), body, one
    )
    edit.forget(other, f"`merge` put its body into the loop over {header.variable}")
    edit.forget(one, f"`merge` made another loop over {header.variable} of it")
    _install(edit, one, other, merged)
    return edit.finish([merged])


def _leave_guards(edit: Editor, one: ast.For, other: ast.For) -> None:
    """Take the loops out of guards that hold nothing else; these then stand inside of them.

    Loops that `merge` made around them leave such guards.
    """
    if edit.place(one).block is edit.place(other).block:
        return
    for loop in (one, other):
        while (place := edit.place(loop)).parents:
            guard = place.parents[-1]
            if not is_guard(guard) or len(place.block) > 1:
                break
            assert isinstance(guard, ast.If)
            edit.replace(guard, [loop])
            guard.body, loop.body = loop.body, [guard]


def _check(edit: Editor, one: ast.For, other: ast.For) -> None:
    place, other_place = edit.place(one), edit.place(other)
    if place.block is not other_place.block or one is other:
        raise ScheduleError(
            "the loops do not stand beside each other",
            code="schedule.not-siblings",
            span=edit.span(other),
            hints=["`merge` the loops around them first, or `fuse` loops that are nested"],
        )
    if place.index > other_place.index:
        raise ScheduleError(
            "the first loop stands after the second",
            code="schedule.not-siblings",
            span=edit.span(other),
            hints=["name the earlier loop first"],
        )
    header, other_header = edit.header(one), edit.header(other)
    for loop, each in ((one, header), (other, other_header)):
        if each.kind != "range":
            raise ScheduleError(
                f"{each.variable} is already {each.kind}",
                code="schedule.already-bound",
                span=edit.span(loop),
                hints=["merge the loops first, then bind the merged loop"],
            )
    step, other_step = query.integer(header.step), query.integer(other_header.step)
    starts_differ = affine.of(header.start) != affine.of(other_header.start)
    if not step or step != other_step or (abs(step) > 1 and starts_differ):
        towards = bool(step and other_step and step == -other_step)
        raise ScheduleError(
            "the loops do not step through the same values",
            code="schedule.bad-bounds",
            span=edit.span(other),
            notes=_shared(one, other),
            hints=[
                "`reverse` one of them first: they run in opposite directions"
                if towards
                else "`split` or `shift` one of them so that start and step agree"
            ],
        )


def _shared(one: ast.For, other: ast.For) -> list[str]:
    """Why the order of two loops may matter."""
    written = [{*query.names_written(each), *query.written_arrays(each)} for each in (one, other)]
    shared = (written[0] & query.names(other)) | (written[1] & query.names(one))
    for target in (each.target for loop in (one, other) for each in query.loops(loop)):
        shared -= query.names(target)
    return [f"both use {', '.join(sorted(shared))}, which one of them writes"] if shared else []


def _union(edit: Editor, loop: ast.For, one: Header, other: Header) -> tuple[Affine, Affine]:
    """Start and stop of a range that holds both ranges."""
    words = ("min", "max") if (query.integer(one.step) or 1) > 0 else ("max", "min")
    context = Context.at(edit.program, loop)
    start = _extreme(context, words[0], affine.of(one.start), affine.of(other.start))
    stop = _extreme(context, words[1], affine.of(one.stop), affine.of(other.stop))
    return start, stop


def _extreme(context: Context, word: str, one: Affine, other: Affine) -> Affine:
    operator = ast.LtE if word == "min" else ast.GtE
    for candidate, rest in ((one, other), (other, one)):
        gap = nodes.compare((candidate - rest).expression(), operator, nodes.const(0))
        if candidate == rest or context.implies(gap):
            return candidate
    return affine.atom(nodes.call(word, [one.expression(), other.expression()]))


def _guarded(
    body: list[ast.stmt], own: Header, named: Header, start: Affine, stop: Affine, descends: bool
) -> list[ast.stmt]:
    """A body that runs only in its own range, as part of a loop over a larger one."""
    conditions: list[ast.expr] = []
    variable = named.variable
    if affine.of(own.start) != start:
        operator: type[ast.cmpop] = ast.GtE if descends else ast.LtE
        conditions.append(nodes.compare(nodes.clone(own.start), operator, nodes.name(variable)))
    if affine.of(own.stop) != stop:
        operator = ast.Gt if descends else ast.Lt
        conditions.append(nodes.compare(nodes.name(variable), operator, nodes.clone(own.stop)))
    return [nodes.if_then(nodes.conjunction(conditions), body)] if conditions else body


def _install(edit: Editor, one: ast.For, other: ast.For, merged: ast.For) -> None:
    """Put the merged loop where the second stood if what stands between feeds it, else first."""
    place, other_place = edit.place(one), edit.place(other)
    block = place.block
    between = block[place.index + 1 : other_place.index]
    made = {
        name
        for each in between
        for name in (*query.names_written(each), *query.written_arrays(each))
    }
    late = bool(made & query.names(other))
    rest = [*between, merged] if late else [merged, *between]
    block[place.index : other_place.index + 1] = rest
