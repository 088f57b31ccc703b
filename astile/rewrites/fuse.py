"""`fuse`: nested loops into one loop over all their iterations."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.forms import affine
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.parts.result import (
    Editor,
    Rewritten,
    check_replaceable,
    conditions,
    is_guard,
    range_call,
)
from astile.rewrites.parts.trips import trip_count, trips_at_least_0, value_at
from astile.rewrites.reorder import nest_between


def fuse(program: Program, loops: Sequence[int]) -> Rewritten:
    """Make one loop of nested loops; it runs their iterations in the same order.

    For two loops beside each other see `merge`. Guards of a split that stand between the loops
    move inside.

    Args:
        program: the program before.
        loops: identities of the loops, outermost first, each the only statement of the one
            before.

    Raises:
        ScheduleError: when the loops are not nested that way, or an inner trip count depends on
            an outer loop.

    Before:
        for i in range(n):
            for j in range(4):
                y[i, j] = x[i, j]

    After ``fuse(i, j)``:
        for i_j_fused in range(n * 4):
            y[i_j_fused // 4, i_j_fused % 4] = x[i_j_fused // 4, i_j_fused % 4]
    """
    edit = Editor(program)
    wanted = [edit.loop(each) for each in loops]
    if len(wanted) < 2:
        raise ScheduleError(
            "name two or more loops",
            code="schedule.bad-loops",
            hints=["write `fuse('i', 'j')`, outermost first"],
        )
    guards = _check(edit, wanted)
    headers = [edit.counted(each) for each in wanted]
    counts = [trip_count(each).expression() for each in headers]
    total = _total(edit, wanted)
    variable = edit.fresh_name("_".join([each.variable for each in headers] + ["fused"]))
    values: dict[str, ast.expr] = {}
    rest: ast.expr = nodes.name(variable)
    for header, count in zip(reversed(headers), reversed(counts), strict=True):
        outermost = header is headers[0]
        digit = rest if outermost else _binary(rest, ast.Mod, count)
        values[header.variable] = value_at(header, affine.of(digit))
        if not outermost:
            rest = _binary(rest, ast.FloorDiv, count)
    inside = wanted[-1].body
    if guards:
        inside = [nodes.if_then(nodes.conjunction(guards), inside)]
    body: list[ast.stmt] = [nodes.substitute(each, values) for each in inside]
    fused = edit.new_loop(variable, range_call(nodes.const(0), total), body, wanted[0])
    for loop, header in zip(wanted, headers, strict=True):
        edit.forget(loop, f"`fuse` made {variable} of {header.variable} and others")
    edit.replace(wanted[0], [fused])
    return edit.finish([fused])


def _total(edit: Editor, wanted: Sequence[ast.For]) -> ast.expr:
    """How often the fused loop runs: the product, where at most one factor may be below 0."""
    sure = [trips_at_least_0(edit, each) for each in wanted]
    unsure = [k for k, each in enumerate(wanted) if sure[k] != (trip_count(edit.counted(each)))]
    if len(unsure) == 1:
        sure[unsure[0]] = trip_count(edit.counted(wanted[unsure[0]]))
    total = sure[0]
    for count in sure[1:]:
        total = affine.of(nodes.binary(total.expression(), ast.Mult, count.expression()))
    return total.expression()


def _binary(left: ast.expr, operator: type[ast.operator], right: ast.expr) -> ast.expr:
    return nodes.binary(nodes.clone(left), operator, nodes.clone(right))


def _check(edit: Editor, wanted: Sequence[ast.For]) -> list[ast.expr]:
    """Refuse loops that cannot be fused; the conditions of guards between those that can."""
    spine = nest_between(edit, wanted)
    guards = [each for each in spine if isinstance(each, ast.If) and is_guard(each)]
    loops = [each for each in spine if not any(each is guard for guard in guards)]
    if [id(each) for each in loops] != [id(each) for each in wanted]:
        raise ScheduleError(
            "the loops must be given outermost first, with no other loop or condition between them",
            code="schedule.not-nested",
            span=edit.span(wanted[-1]),
            hints=["reorder them next to each other, outermost first"],
        )
    outer: set[str] = set()
    for loop in wanted:
        header = edit.header(loop)
        check_replaceable(edit, loop, header)
        if header.kind != "range":
            raise ScheduleError(
                f"{header.variable} is already {header.kind}",
                code="schedule.already-bound",
                span=edit.span(loop),
                hints=["fuse the loops first, then bind the fused loop"],
            )
        depends = outer & (query.names(header.start) | query.names(header.stop))
        if depends:
            raise ScheduleError(
                f"the range of {header.variable} depends on {', '.join(sorted(depends))}",
                code="schedule.bad-bounds",
                hints=["fuse loops whose ranges do not depend on each other"],
                span=edit.span(loop),
            )
        outer.add(header.variable)
    for each in spine[:-1]:
        if len(each.body) != 1:
            raise ScheduleError(
                f"another statement stands beside the loop inside {_around(spine, each)}",
                code="schedule.not-perfect-nest",
                span=edit.span(each.body[0]),
                hints=["`distribute` the outer loop first"],
            )
    return [condition for each in guards for condition in conditions(each)]


def _around(spine: Sequence[ast.stmt], inner: ast.stmt) -> str:
    """The variable of the innermost loop up to a statement of a nest."""
    position = next(k for k, each in enumerate(spine) if each is inner)
    found = [query.header(each) for each in spine[: position + 1] if isinstance(each, ast.For)]
    return next((each.variable for each in reversed(found) if each is not None), "?")
