"""Goes through the statements of a function with what is known of integers at each place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from astile.frontend.lengths import Lengths
from astile.ir import query

#: Gives the statements in place of one, or None where it stays.
Rewrite = Callable[[ast.stmt, Lengths], "list[ast.stmt] | None"]


def edited(function: ast.FunctionDef, known: Lengths, rewrite: Rewrite) -> bool:
    """Rewrite statements in place, inner ones first; whether anything changed.

    Args:
        function: is edited.
        known: what is known of integers where it starts.
        rewrite: is asked for each statement.
    """
    editor = _Editor(rewrite)
    body: list[ast.stmt] = []
    for statement in function.body:
        after = known.next(statement).after(statement)
        body += editor.statement(statement, known)
        known = after
    function.body = body
    return editor.has_changed


class _Editor:
    def __init__(self, rewrite: Rewrite) -> None:
        self.rewrite = rewrite
        self.has_changed = False

    def block(self, body: Sequence[ast.stmt], known: Lengths) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in body:
            after = known.next(statement)
            done += self.statement(statement, known)
            known = after
        return done

    def statement(self, statement: ast.stmt, known: Lengths) -> list[ast.stmt]:
        for body in query.bodies(statement):
            body[:] = self.block(body, known.within(statement, body))
        made = self.rewrite(statement, known)
        if made is None:
            return [statement]
        self.has_changed = True
        return made


def is_left(body: Sequence[ast.stmt]) -> bool:
    """Whether statements of a loop's body break, continue or return."""
    for statement in body:
        if isinstance(statement, (ast.Break, ast.Continue)):
            return True
        if any(isinstance(each, ast.Return) for each in ast.walk(statement)):
            return True
        inner = [] if isinstance(statement, (ast.For, ast.While)) else query.bodies(statement)
        if any(map(is_left, inner)):
            return True
    return False


def is_about_sizes(test: ast.expr, known: Lengths) -> bool:
    """Whether a condition may be one over known integers only."""
    match test:
        case ast.BoolOp(values=values):
            return all(is_about_sizes(each, known) for each in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return is_about_sizes(operand, known)
        case ast.Compare(left=left, comparators=comparators):
            return all(_is_integer(each, known) for each in (left, *comparators))
    return False


def _is_integer(side: ast.expr, known: Lengths) -> bool:
    match side:
        case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod(), right=right):
            return _is_integer(left, known) and query.integer(right) is not None
    return known.linear(side) is not None
