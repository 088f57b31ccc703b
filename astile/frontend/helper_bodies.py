"""What helper functions consist of, and whether their bodies may stand in place of a call."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from astile.ir import nodes, query
from astile.ir.program import Program

#: A helper with more statements stays a function.
_STATEMENTS = 40


@dataclass(frozen=True)
class Body:
    """The body of a helper whose every way through ends at its end.

    Args:
        statements: with ``return`` only at the end of branches that are last.
        is_plain: whether they are assignments to names and one ``return`` at the end.
        stores: whether they may store into an argument, or act in another way.
        opened: parameters whose cells are used.
        written: parameters that are bound again.
    """

    statements: tuple[ast.stmt, ...]
    is_plain: bool
    stores: bool
    opened: frozenset[str]
    written: frozenset[str]


def body_of(helper: Program) -> Body | None:
    """The body of a helper as it may stand in place of a call; None where it stays a function.

    A helper of numbers that branches or loops stays: one call of it is easier to schedule than
    what it consists of.

    Args:
        helper: read as a program of its own.
    """
    function = helper.function
    if function.args.vararg is not None or function.args.kwarg is not None:
        return None
    if sum(1 for _ in query.statements(function)) > _STATEMENTS:
        return None
    written_out = [each for each in nodes.clone_body(function.body) if not _is_text(each)]
    statements = _with_returns_last(written_out)
    if statements is None:
        return None
    parameters = set(query.parameters(function))
    opened = frozenset(_opened(function) & parameters)
    written = frozenset(query.names_written(function) & parameters)
    is_plain = all(_binds_names(each) for each in statements[:-1]) and (
        isinstance(statements[-1], ast.Return) and statements[-1].value is not None
    )
    stores = _stores(function, helper, parameters)
    if written & opened or not (is_plain or opened):
        return None
    return Body(tuple(statements), is_plain, stores, opened, written)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _binds_names(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return all(_is_names(each) for each in statement.targets)
    return isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name)


def _is_names(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple):
        return all(map(_is_names, target.elts))
    return isinstance(target, ast.Name)


def _opened(function: ast.FunctionDef) -> set[str]:
    """Names whose cells or attributes are used, or that are handed on to another function."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.value, ast.Name):
            found.add(node.value.id)
        elif isinstance(node, ast.Call) and query.dotted(node.func) == "len":
            found |= query.names_read(node) - {"len"}
    return found


def _stores(function: ast.FunctionDef, helper: Program, parameters: set[str]) -> bool:
    """Whether a function may change an argument: by a store, an update, or a call."""
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, ast.AugAssign) and query.names_written(node.target) & parameters:
            return True
        if isinstance(node, ast.Call):
            word = query.dotted(node.func)
            if word is None or word in helper.helpers:
                return True
            if word.partition(".")[0] in query.names_written(function) | parameters:
                return True  # a method of an array
        if isinstance(node, (ast.Raise, ast.Assert)):
            return True
    return False


# --- returns -------------------------------------------------------------------------------------


def _with_returns_last(body: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """Statements with what follows a branch that returns moved into the other branch.

    None where a loop returns, or where what follows would stand twice.
    """
    for index, statement in enumerate(body):
        if isinstance(statement, ast.Return):
            return list(body[: index + 1])
        if not _returns(statement):
            continue
        if not isinstance(statement, ast.If):
            return None
        rest = list(body[index + 1 :])
        ends = [_always_returns(each) for each in (statement.body, statement.orelse)]
        if rest and not any(ends):
            return None
        yes = _with_returns_last([*statement.body, *([] if ends[0] else rest)])
        no = _with_returns_last([*statement.orelse, *([] if ends[1] else rest)])
        if yes is None or no is None:
            return None
        whole = nodes.copy_place(statement, nodes.if_then(statement.test, yes, no))
        return [*body[:index], whole]
    return list(body) or [ast.Pass()]


def _returns(statement: ast.stmt) -> bool:
    return any(isinstance(each, ast.Return) for each in ast.walk(statement))


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise))


def ends(statements: Sequence[ast.stmt]) -> list[ast.Return | None]:
    """The ``return`` at the end of each way through statements; None where one just ends."""
    if not statements:
        return [None]
    last = statements[-1]
    if isinstance(last, ast.Return):
        return [last]
    if isinstance(last, ast.Raise):
        return []
    if isinstance(last, ast.If) and _returns(last):
        return [*ends(last.body), *ends(last.orelse)]
    return [None]
