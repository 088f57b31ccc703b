"""Arguments of calls: which parameter they are for, and whether they may stand in its place."""

from __future__ import annotations

import ast

from astile.frontend.helper_bodies import Body
from astile.ir import query


def given(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """Parameter -> argument or default, in the order in which arguments are computed."""
    declared = function.args
    positional = [each.arg for each in (*declared.posonlyargs, *declared.args)]
    named = {each.arg for each in (*declared.args, *declared.kwonlyargs)}
    if len(call.args) > len(positional) or any(isinstance(e, ast.Starred) for e in call.args):
        return None
    found = dict(zip(positional, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in found or keyword.arg not in named:
            return None
        found[keyword.arg] = keyword.value
    other = defaults(function)
    for name in query.parameters(function):
        if name not in found:
            if name not in other:
                return None
            found[name] = other[name]
    return found


def defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Parameter -> the expression of its default."""
    declared = function.args
    positional = [each.arg for each in (*declared.posonlyargs, *declared.args)]
    last = positional[len(positional) - len(declared.defaults) :]
    found = dict(zip(last, declared.defaults, strict=True))
    for argument, default in zip(declared.kwonlyargs, declared.kw_defaults, strict=True):
        if default is not None:
            found[argument.arg] = default
    return found


def may_stand_again(argument: ast.expr, parameter: str, body: Body) -> bool:
    """Whether an argument may stand wherever its parameter does."""
    if parameter in body.opened:
        return isinstance(argument, ast.Name)
    if _is_atom(argument):
        return True
    if len(body.statements) > 1 or not isinstance(argument, ast.expr):
        return False
    (only,) = body.statements
    if not isinstance(only, ast.Return) or only.value is None:
        return False
    uses = [
        node for node in ast.walk(only.value) if isinstance(node, ast.Name) and node.id == parameter
    ]
    return len(uses) == 1 and _is_surely_computed(only.value, uses[0])


def _is_atom(argument: ast.expr) -> bool:
    match argument:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return isinstance(operand, ast.Constant)
        case ast.Subscript(value=ast.Attribute(value=ast.Name(), attr="shape"), slice=axis):
            return query.integer(axis) is not None
    return isinstance(argument, (ast.Name, ast.Constant))


def _is_surely_computed(root: ast.expr, wanted: ast.Name) -> bool:
    """Whether a part of an expression is computed once whenever the whole is."""
    pending: list[ast.AST] = [root]
    while pending:
        node = pending.pop()
        if node is wanted:
            return True
        if isinstance(node, ast.IfExp):
            pending.append(node.test)
        elif isinstance(node, ast.BoolOp):
            pending.append(node.values[0])
        elif isinstance(node, ast.Compare):
            pending += [node.left, node.comparators[0]]
        else:
            pending += ast.iter_child_nodes(node)
    return False
