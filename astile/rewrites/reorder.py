"""`reorder`: permute loops of one nest."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis import affine, intervals
from astile.analysis.intervals import Range
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.distribute import perfect_nest
from astile.rewrites.result import Editor, Rewritten, conditions, range_call


def reorder(program: Program, loops: Sequence[int]) -> Rewritten:
    """Put loops of one nest into the given order, outermost first.

    Only the named loops move, among the places that they hold. Statements beside the inner
    loops are distributed into nests of their own, and scalars between them expanded to arrays.
    Bounds that depend on a loop that moves inside become guards.

    Args:
        program: the program before.
        loops: identities of the loops in the order wanted, outermost first.

    Raises:
        ScheduleError: when the loops are not nested in each other, or a bound cannot be moved.

    Before:
        for i in range(n):
            for j in range(m):
                y[i, j] = x[i, j]

    After ``reorder(j, i)``:
        for j in range(m):
            for i in range(n):
                y[i, j] = x[i, j]
    """
    edit = Editor(program)
    wanted = [edit.loop(each) for each in loops]
    if len({id(each) for each in wanted}) != len(wanted) or len(wanted) < 2:
        raise ScheduleError("name two or more different loops", code="schedule.bad-loops")
    spine = nest_between(edit, wanted)
    spine = perfect_nest(edit, _that_change(spine, wanted))
    parts = [each for each in spine if isinstance(each, ast.For)]
    slots = [index for index, each in enumerate(parts) if any(each is w for w in wanted)]
    order = list(parts)
    for slot, loop in zip(slots, wanted[len(wanted) - len(slots) :], strict=True):
        order[slot] = loop
    guards = [c for each in spine if isinstance(each, ast.If) for c in conditions(each)]
    place = edit.place(spine[0])
    body = _last_body(spine)
    guards += _free_bounds(edit, parts, order)
    place.block[place.index] = _rebuild(order, guards, body)
    return edit.finish(wanted)


def _that_change(
    spine: list[ast.For | ast.If], wanted: Sequence[ast.For]
) -> list[ast.For | ast.If]:
    """The part of a nest from the first loop on whose place another loop takes.

    Raises:
        ScheduleError: when the loops have the order wanted already.
    """
    waiting = list(wanted)
    for index, each in enumerate(spine):
        if not any(each is w for w in waiting):
            continue
        if each is not waiting[0]:
            return spine[index:]
        waiting.pop(0)
    raise ScheduleError("the loops are in this order already", code="schedule.nothing-to-do")


def nest_between(edit: Editor, wanted: Sequence[ast.For]) -> list[ast.For | ast.If]:
    """The loops and guards from the outermost to the innermost of some loops, both included.

    Raises:
        ScheduleError: when one of the loops is not inside the others.
    """
    places = [edit.place(each) for each in wanted]
    innermost = max(range(len(wanted)), key=lambda k: len(places[k].parents))
    chain = [*places[innermost].parents, wanted[innermost]]
    for loop in wanted:
        if not any(loop is each for each in chain):
            outer, inner = wanted[innermost], loop
            raise ScheduleError(
                f"the loops over {_variable(outer)} and {_variable(inner)} are not nested in "
                "each other",
                code="schedule.not-nested",
                span=edit.span(inner),
                hints=["`compute_at` brings the loops of two stages into one nest"],
            )
    first = min(index for index, each in enumerate(chain) if any(each is w for w in wanted))
    spine: list[ast.For | ast.If] = []
    for each in chain[first:]:
        if isinstance(each, ast.For) or (isinstance(each, ast.If) and not each.orelse):
            spine.append(each)
            continue
        raise ScheduleError(
            "a statement that is no loop stands between these loops",
            code="schedule.not-nested",
            span=edit.span(each),
        )
    return spine


def _variable(loop: ast.For) -> str:
    found = query.header(loop)
    return "?" if found is None else found.variable


def _last_body(spine: Sequence[ast.For | ast.If]) -> list[ast.stmt]:
    return spine[-1].body


def _free_bounds(edit: Editor, before: list[ast.For], after: list[ast.For]) -> list[ast.expr]:
    """Make bounds independent of loops that are now inside; what they lose becomes guards."""
    guards: list[ast.expr] = []
    for index, loop in enumerate(after):
        header = edit.header(loop)
        inside = {_variable(each) for each in after[index + 1 :]}
        needed = (query.names(header.start) | query.names(header.stop)) & inside
        if not needed:
            continue
        around = before[: [each is loop for each in before].index(True)]
        moved = [each for each in around if _variable(each) in inside]
        ranges = intervals.ranges_of(moved)
        start, stop = _outer_bounds(edit, loop, ranges)
        variable = nodes.name(header.variable)
        guards.append(nodes.compare(nodes.clone(header.start), ast.LtE, variable))
        guards.append(nodes.compare(nodes.clone(variable), ast.Lt, nodes.clone(header.stop)))
        loop.iter = range_call(start, stop, kind=header.kind)
    return guards


def _outer_bounds(
    edit: Editor, loop: ast.For, ranges: Sequence[Range]
) -> tuple[ast.expr, ast.expr]:
    header = edit.header(loop)
    start = intervals.lowest(affine.of(header.start), ranges)
    stop = intervals.highest(affine.of(header.stop), ranges)
    left = {each.variable for each in ranges} & (start.names() | stop.names())
    if left or not query.is_constant(header.step, 1):
        raise ScheduleError(
            f"the bounds of the loop over {header.variable} depend on a loop that would move "
            "inside it, in a way that is not read",
            code="schedule.bad-bounds",
            span=edit.span(loop),
        )
    return start.expression(), stop.expression()


def _rebuild(
    order: Sequence[ast.For], guards: Sequence[ast.expr], body: list[ast.stmt]
) -> ast.stmt:
    """The nest in its new order, each guard as far outside as its variables allow."""
    waiting = list(guards)
    for loop in order:
        loop.body = []
    layers: list[ast.For | ast.If] = []
    for index, loop in enumerate(order):
        layers.append(loop)
        inside = {_variable(each) for each in order[index + 1 :]}
        ready = [each for each in waiting if not query.names(each) & inside]
        if ready:
            layers.append(nodes.if_then(nodes.conjunction(ready), []))
            waiting = [each for each in waiting if not any(each is r for r in ready)]
    layers[-1].body = body
    for outer, inner in zip(reversed(layers[:-1]), reversed(layers[1:]), strict=True):
        outer.body = [inner]
    return layers[0]
