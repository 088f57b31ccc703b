"""`skew`: slant an inner loop along an outer one, so that both may be tiled."""

from __future__ import annotations

import ast

from astile.analysis.forms import affine
from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.program import Program
from astile.ir.query import Header
from astile.rewrites.parts.result import (
    Editor,
    Rewritten,
    check_replaceable,
    check_unbound,
    whole_number,
)
from astile.rewrites.shift import displace


def skew(program: Program, outer: int, inner: int, factor: int) -> Rewritten:
    """Add a multiple of an outer loop's variable to the variable of an inner loop.

    The order of the iterations stays the same. A value that is made in iteration (0, 1) and used
    in iteration (1, 0) is used in (1, 1) after a skew by 1: no loop runs against the flow of
    values any more, so that the two loops can be reordered and tiled. The source of the method
    is M. Wolfe, "Loop skewing: the wavefront method revisited" (1986).

    Args:
        program: the program before.
        outer: identity of the outer loop, such as the one over time steps.
        inner: identity of a loop inside it.
        factor: how many trips the inner loop is moved in each trip of the outer one.

    Raises:
        ScheduleError: for a bad factor, loops that are not nested, or a loop that is bound.

    Before:
        for t in range(steps):
            for i in range(1, n):
                y[i] = y[i] + y[i - 1]

    After ``skew(t, i, 1)``:
        for t in range(steps):
            for i in range(t + 1, t + n):
                y[i - t] = y[i - t] + y[i - t - 1]
    """
    edit = Editor(program)
    around, node = edit.loop(outer), edit.loop(inner)
    along, header = edit.header(around), edit.header(node)
    factor = whole_number("factor", factor)
    if factor == 0:
        raise ScheduleError(
            "a skew by 0 changes nothing",
            code="schedule.nothing-to-do",
            hints=["leave the call out"],
        )
    _check_nested(edit, around, along, node, header)
    check_unbound(edit, node, header, "skew the loop first, then bind it")
    check_replaceable(edit, node, header)
    displace(node, header, affine.variable(along.variable) * factor)
    return edit.finish([around, node])


def _check_nested(
    edit: Editor, around: ast.For, along: Header, node: ast.For, header: Header
) -> None:
    """Refuse loops of which the second is not inside the first, or cannot see its variable."""
    if not any(each is around for each in edit.place(node).loops):
        raise ScheduleError(
            f"the loop over {header.variable} is not inside the loop over {along.variable}",
            code="schedule.not-nested",
            span=edit.span(node),
            hints=["name the outer loop first"],
        )
    for each in around.body:
        for child in query.preorder(each):
            if (
                isinstance(child, ast.Name)
                and child.id == along.variable
                and not isinstance(child.ctx, ast.Load)
            ):
                raise ScheduleError(
                    f"the body of the loop over {along.variable} assigns {along.variable} itself",
                    code="schedule.variable-assigned",
                    span=edit.span(child),
                    hints=["use another name inside the loop"],
                )
