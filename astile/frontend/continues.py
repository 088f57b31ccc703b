"""``continue`` in a counted loop becomes a condition around the rest of the body."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.frontend.walk import is_left
from astile.ir import nodes, query
from astile.ir.program import Program

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def continues(program: Program) -> Program:
    """Guard the rest of a loop's body in place of ``continue``, where nothing else leaves it.

    Args:
        program: is not changed.

    Before::

        def f(A, n):
            for i in range(n):
                if i == 3:
                    continue
                A[i] = 0.0

    After::

        def f(A, n):
            for i in range(n):
                if i != 3:
                    A[i] = 0.0
    """
    new = program.cloned()
    changed = [_edit(loop) for loop in query.loops(new.function)]
    return new if any(changed) else program


def _edit(loop: ast.For) -> bool:
    if query.header(loop) is None or not _holds_continue(loop.body):
        return False
    made = _without(loop.body)
    if made is None or is_left(made):
        return False
    loop.body = made or [ast.Pass()]
    return True


def _holds_continue(body: Sequence[ast.stmt]) -> bool:
    """Whether statements hold a ``continue`` of the loop around them."""
    return any(
        isinstance(each, ast.Continue)
        or (
            not isinstance(each, (ast.For, ast.While))
            and any(map(_holds_continue, query.bodies(each)))
        )
        for each in body
    )


def _without(body: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """A body that does the same without ``continue``; None where its rest would stand twice."""
    for index, statement in enumerate(body):
        if isinstance(statement, ast.Continue):
            return list(body[:index])
        if not isinstance(statement, ast.If) or not _holds_continue([statement]):
            continue
        rest = list(body[index + 1 :])
        ends = [_always_continues(each) for each in (statement.body, statement.orelse)]
        if rest and not any(ends):
            return None
        yes = _without([*statement.body, *([] if ends[0] else rest)])
        no = _without([*statement.orelse, *([] if ends[1] else rest)])
        if yes is None or no is None:
            return None
        return [*body[:index], *_condition(statement, yes, no)]
    return list(body)


def _always_continues(body: Sequence[ast.stmt]) -> bool:
    """Whether statements end with ``continue`` on every way through them."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return _always_continues(last.body) and _always_continues(last.orelse)
    return isinstance(last, ast.Continue)


def _condition(
    statement: ast.If, yes: Sequence[ast.stmt], no: Sequence[ast.stmt]
) -> list[ast.stmt]:
    """``if``, with the branches that are left; the test is computed in any case."""
    yes = [each for each in yes if not isinstance(each, ast.Pass)]
    no = [each for each in no if not isinstance(each, ast.Pass)]
    if yes:
        made = nodes.if_then(statement.test, yes, no)
    elif no:
        made = nodes.if_then(opposite(statement.test), no)
    else:
        made = nodes.if_then(statement.test, [ast.Pass()])
    return [nodes.copy_place(statement, made)]


def opposite(test: ast.expr) -> ast.expr:
    """A condition that holds where another does not: ``i != 3`` for ``i == 3``.

    Only comparisons that are each other's opposite for any two values are turned round: where one
    side is NaN, neither ``a < b`` nor ``a >= b`` holds.

    Args:
        test: goes into the result.
    """
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPPOSITE:
            return nodes.copy_place(test, nodes.compare(left, _OPPOSITE[type(op)], right))
    return nodes.copy_place(test, ast.UnaryOp(ast.Not(), test))
