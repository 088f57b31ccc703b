"""`peel`: take the first or last iterations out of a loop."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.errors import ScheduleError
from astile.ir import nodes, query
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
from astile.rewrites.parts.trips import trip_count, value_at

#: Comparison -> the one that says the same with its sides in the other order.
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


def peel(program: Program, loop: int, first: int = 0, last: int = 0) -> Rewritten:
    """Put the first and last iterations of a loop before and after it.

    One iteration becomes plain statements, more of them a loop of literal length. Where the
    loop may have fewer iterations than are taken out they stand under a condition.

    Args:
        program: the program before.
        loop: identity of the loop.
        first: how many iterations to put before the loop.
        last: how many iterations to put after it.

    Raises:
        ScheduleError: for bad numbers, more iterations than the loop has, or a loop that is
            bound or not counted.

    Before:
        for i in range(n):
            y[i] = x[i]

    After ``peel(i, first=1)``:
        if n > 0:
            y[0] = x[0]
        for i in range(1, n):
            y[i] = x[i]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    header = edit.counted(node)
    count = trip_count(header)
    first, last = whole_number("first", first), whole_number("last", last)
    _check(edit, node, header, count, first, last)
    check_unbound(edit, node, header, "peel the loop first, then bind it")
    check_replaceable(edit, node, header)
    step = query.integer(header.step)
    assert step
    rest = count - last
    head = _taken(edit, node, header, affine.constant(0), first)
    tail = _taken(edit, node, header, rest, last)
    if head:
        _guard(head, header, ast.Lt if step > 0 else ast.Gt, header.stop)
    if tail:
        least = value_at(header, affine.constant(first))
        _guard(tail, header, ast.GtE if step > 0 else ast.LtE, least)
    if (rest - first).value == 0:
        edit.forget(node, f"`peel` took all iterations of {header.variable} out of the loop")
        main: list[ast.stmt] = []
    else:
        main = [node]
    parts = [*(head.statements if head else []), *main, *(tail.statements if tail else [])]
    edit.replace(node, parts)
    stop = value_at(header, rest) if last else header.stop
    node.iter = range_call(value_at(header, affine.constant(first)), stop, header.step)
    return edit.finish([each for each in parts if isinstance(each, ast.For)])


def _check(
    edit: Editor, node: ast.For, header: Header, count: Affine, first: int, last: int
) -> None:
    if first < 0 or last < 0 or first + last == 0:
        raise ScheduleError(
            "first and last say how many iterations to take out, one at least",
            code="schedule.bad-factor",
            hints=["write `first=1` or `last=1`"],
        )
    if count.value is not None and first + last > count.value:
        raise ScheduleError(
            f"the loop over {header.variable} has only {count.value} iterations",
            code="schedule.bad-factor",
            hints=["take out fewer"],
            span=edit.span(node),
        )


@dataclass(frozen=True)
class _Taken:
    """Iterations outside of their loop.

    Args:
        statements: they themselves: a loop, or the statements of one iteration.
        body: the statements of one iteration, which may be guarded in place.
        value: the loop variable's value in it.
    """

    statements: list[ast.stmt]
    body: list[ast.stmt]
    value: ast.expr


def _taken(
    edit: Editor, node: ast.For, header: Header, begin: Affine, number: int
) -> _Taken | None:
    """A copy of some iterations of a loop, the first of them in a trip counted from 0."""
    if number == 0:
        return None
    value = value_at(header, begin)
    if number == 1:
        body = [nodes.substitute(each, {header.variable: value}) for each in node.body]
        edit.renumber(body)
        return _Taken(body, body, value)
    body = nodes.clone_body(node.body)
    edit.renumber(body)
    iterator = range_call(value, value_at(header, begin + number), header.step)
    loop = edit.new_loop(header.variable, iterator, body, node)
    return _Taken([loop], loop.body, nodes.name(header.variable))


def _guard(taken: _Taken, header: Header, operator: type[ast.cmpop], bound: ast.expr) -> None:
    """Let iterations run only where the loop has them."""
    sides = [nodes.clone(taken.value), nodes.clone(bound)]
    if query.integer(taken.value) is not None:  # n > 0 reads better than 0 < n
        sides.reverse()
        operator = _TURNED[operator]
    test = nodes.compare(sides[0], operator, sides[1])
    taken.body[:] = [nodes.if_then(test, taken.body[:])]
