"""Which integers of a function are never negative because they are sizes of arrays."""

from __future__ import annotations

import ast

from astile.ir import query


def is_size(function: ast.FunctionDef, expression: ast.expr) -> bool:
    """Whether an integer is never negative, from its text."""
    match expression:
        case ast.Constant(value=int() as value):
            return value >= 0
        case ast.Name(id=name):
            return _is_extent(function, name)
        case ast.Subscript() | ast.Call(func=ast.Name(id="len")):
            return _is_length(expression)
        case ast.Call(func=ast.Name(id="max"), args=arguments):
            return any(is_size(function, each) for each in arguments)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return is_size(function, left) and is_size(function, right)
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):
            return is_size(function, left) and (query.integer(right) or 0) > 0
    return False


def _is_extent(function: ast.FunctionDef, name: str) -> bool:
    """Whether a name is bound once, to an extent of an array."""
    bound = [
        node
        for node in query.statements(function)
        if name in query.names_written(node) and not query.bodies(node)
    ]
    stores = [
        node
        for node in query.preorder(function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]
    match bound:
        case [ast.Assign(targets=[ast.Name()], value=value)]:
            return len(stores) == 1 and _is_length(value)
        case [ast.Assign(targets=[ast.Tuple()], value=ast.Attribute(attr="shape"))]:
            return len(stores) == 1
        case [ast.Assign(targets=[ast.Tuple()], value=ast.Tuple(elts=values))]:
            return len(stores) == 1 and all(map(_is_length, values))
    return False


def _is_length(expression: ast.expr) -> bool:
    """Whether this is ``A.shape[k]`` or ``len(A)``."""
    match expression:
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case ast.Call(func=ast.Name(id="len")):
            return True
    return False
