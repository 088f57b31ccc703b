"""`shift`: let the variable of a loop count from elsewhere; the iterations stay the same."""

from __future__ import annotations

import ast

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.errors import ScheduleError
from astile.ir import nodes
from astile.ir.program import Program
from astile.ir.query import Header
from astile.rewrites.parts.result import (
    Editor,
    Rewritten,
    check_replaceable,
    check_unbound,
    range_call,
    whole_number,
)


def shift(program: Program, loop: int, by: int) -> Rewritten:
    """Add a number to the values of a loop's variable, and take it off where they are used.

    Alone it changes nothing but the text. It decides which iterations `merge` runs together, so
    that a consumer that reads ahead of its producer may follow it at a distance.

    Args:
        program: the program before.
        loop: identity of the loop.
        by: what is added to the variable; below 0 the loop counts from further down.

    Raises:
        ScheduleError: for a bad number, or a loop that is bound or not counted.

    Before:
        for i in range(n - 2):
            y[i] = a[i] + a[i + 2]

    After ``shift(i, 2)``:
        for i in range(2, n):
            y[i - 2] = a[i - 2] + a[i]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    header = edit.header(node)
    by = whole_number("by", by)
    if by == 0:
        raise ScheduleError(
            "a shift by 0 changes nothing",
            code="schedule.nothing-to-do",
            hints=["leave the call out"],
        )
    check_unbound(edit, node, header, "shift the loop first, then bind it")
    check_replaceable(edit, node, header)
    displace(node, header, affine.constant(by))
    return edit.finish([node])


def displace(node: ast.For, header: Header, offset: Affine) -> None:
    """Add an offset to a loop's variable, in place, and take it off wherever that is read.

    Args:
        node: the loop.
        header: its header.
        offset: an integer that is the same in all its iterations.
    """
    value = (affine.variable(header.variable) - offset).expression()
    node.body = [nodes.substitute(each, {header.variable: value}) for each in node.body]
    start, stop = affine.of(header.start) + offset, affine.of(header.stop) + offset
    node.iter = range_call(start.expression(), stop.expression(), header.step)
