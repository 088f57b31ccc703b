"""`reorder`: permute loops of one nest."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.forms import affine, intervals
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.distribute import perfect_nest
from astile.rewrites.parts.result import Editor, Rewritten, conditions, is_guard, range_call


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
        raise ScheduleError(
            "name two or more different loops",
            code="schedule.bad-loops",
            hints=["write `reorder('j', 'i')`, outermost first"],
        )
    _check_changes(nest_between(edit, wanted), wanted)
    _hoist(edit, wanted)
    spine = nest_between(edit, wanted)
    order = _in_order(spine, wanted)
    parts = _loops(spine)
    changed = [k for k, (one, other) in enumerate(zip(parts, order, strict=True)) if one != other]
    if changed:
        first, last = (_index(spine, parts[k]) for k in (changed[0], changed[-1]))
        moving = perfect_nest(edit, spine[first : last + 1])
        _permute(edit, moving, order[changed[0] : changed[-1] + 1])
    return edit.finish(wanted)


def _loops(spine: Sequence[ast.stmt]) -> list[ast.For]:
    return [each for each in spine if isinstance(each, ast.For)]


def _index(spine: Sequence[ast.stmt], loop: ast.stmt) -> int:
    return next(index for index, each in enumerate(spine) if each is loop)


def _in_order(spine: Sequence[ast.stmt], wanted: Sequence[ast.For]) -> list[ast.For]:
    """The loops of a nest, those that are wanted in that order among the places they hold."""
    waiting = list(wanted)
    return [waiting.pop(0) if any(each is w for w in wanted) else each for each in _loops(spine)]


def _check_changes(spine: Sequence[ast.stmt], wanted: Sequence[ast.For]) -> None:
    order = _in_order(spine, wanted)
    if all(one is other for one, other in zip(_loops(spine), order, strict=True)):
        raise ScheduleError(
            "the loops are in this order already",
            code="schedule.nothing-to-do",
            hints=["leave the call out, or name the loops in another order"],
        )


def _hoist(edit: Editor, wanted: Sequence[ast.For]) -> None:
    """Move loops that go outermost there before anything is distributed.

    Statements beside the inner loops stay inside of them then, and their scalars need no cells
    for their iterations.
    """
    spine = nest_between(edit, wanted)
    perfect = next(
        (k for k, each in enumerate(spine[:-1]) if query.only_statement(each.body) is None),
        len(spine) - 1,
    )
    band = spine[: perfect + 1]
    loops = _loops(band)
    order: list[ast.For] = []
    for each in _in_order(spine, wanted):
        if not any(each is loop for loop in loops):
            break
        order.append(each)
    order += [each for each in loops if not any(each is loop for loop in order)]
    changed = [k for k, (one, other) in enumerate(zip(loops, order, strict=True)) if one != other]
    if changed:
        first, last = (_index(band, loops[k]) for k in (changed[0], changed[-1]))
        _permute(edit, band[first : last + 1], order[changed[0] : changed[-1] + 1])


def _permute(edit: Editor, nest: Sequence[ast.For | ast.If], order: list[ast.For]) -> None:
    """Put the loops of a perfect nest into an order."""
    guards = [
        condition
        for each in nest
        if isinstance(each, ast.If)
        for condition in (conditions(each) if is_guard(each) else [each.test])
    ]
    place = edit.place(nest[0])
    body = nest[-1].body
    guards += _free_bounds(edit, _loops(nest), order)
    place.block[place.index] = _rebuild(order, guards, body)


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
            hints=["move it out of the loops, or put it into the inner one"],
            span=edit.span(each),
        )
    return spine


def _variable(loop: ast.For) -> str:
    found = query.header(loop)
    return "?" if found is None else found.variable


def _free_bounds(edit: Editor, before: list[ast.For], after: list[ast.For]) -> list[ast.expr]:
    """Make bounds independent of loops that are now inside; what they lose becomes guards."""
    guards: list[ast.expr] = []
    for index, loop in enumerate(after):
        header = edit.header(loop)
        inside = {_variable(each) for each in after[index + 1 :]}
        if not (query.names(header.start) | query.names(header.stop)) & inside:
            continue
        around = before[: [each is loop for each in before].index(True)]
        moved = [each for each in around if _variable(each) in inside]
        guards += _freed(edit, loop, moved)
    return guards


def _freed(edit: Editor, loop: ast.For, moved: Sequence[ast.For]) -> list[ast.expr]:
    """Widen the range of a loop to all values it takes; the conditions that keep it as it was."""
    header = edit.counted(loop)
    step = query.integer(header.step)
    assert step
    variables = {_variable(each) for each in moved}
    ranges = intervals.ranges_of(moved)
    start, stop = affine.of(header.start), affine.of(header.stop)
    first, last = intervals.lowest, intervals.highest
    if step < 0:
        first, last = last, first
    is_moved = start.names() & variables
    outer_start, outer_stop = first(start, ranges), last(stop, ranges)
    if (outer_start.names() | outer_stop.names()) & variables:
        raise ScheduleError(
            f"the bounds of the loop over {header.variable} depend on a loop that would move "
            "inside it, in a way that is not read",
            code="schedule.bad-bounds",
            hints=["leave the loop inside the one that its bounds depend on"],
            span=edit.span(loop),
        )
    variable = affine.variable(header.variable)
    # a start that moves decides which values the steps meet
    unit = (1 if step > 0 else -1) if is_moved else step
    loop.iter = range_call(
        outer_start.expression(), outer_stop.expression(), nodes.const(unit), header.kind
    )
    up = step > 0
    guards: list[ast.expr] = []
    if is_moved:
        low, high = (start, variable) if up else (variable, start)
        guards.append(nodes.compare(low.expression(), ast.LtE, high.expression()))
    low, high = (variable, stop) if up else (stop, variable)
    guards.append(nodes.compare(low.expression(), ast.Lt, high.expression()))
    if unit != step:
        offset = affine.modulo(variable - start if up else start - variable, abs(step))
        guards.append(nodes.compare(offset.expression(), ast.Eq, nodes.const(0)))
    return guards


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
