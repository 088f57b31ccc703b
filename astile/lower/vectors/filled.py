"""Tiles that are filled with a number: rows that nobody reads may be filled as well."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.ir import nodes, query
from astile.lower.vectors.unrolled import is_vector


def whole(body: list[ast.stmt]) -> None:
    """Take conditions away from what fills a new tile with one number, in place.

    What nobody has stored to holds anything, so it may hold the number as well. Rows that are
    always filled need no other first value in registers, and no branch.

    Args:
        body: statements whose unrolled loops are written out.

    Before:
        tile = local.empty((2, 16), np.float32)
        if i < n:
            for j in vector(16):
                tile[0, j] = 0
        if i + 1 < n:
            for j in vector(16):
                tile[1, j] = 0

    After:
        tile = local.empty((2, 16), np.float32)
        for j in vector(16):
            tile[0, j] = 0
        for j in vector(16):
            tile[1, j] = 0
    """
    for statement in body:
        for inner in query.bodies(statement):
            whole(inner)
    position = 0
    while position < len(body):
        made = query.allocation(body[position])
        position += 1
        if made is None or made.scope != "local" or made.word != "empty":
            continue
        shape = [query.integer(each) for each in made.shape or ()]
        first: ast.expr | None = None
        while position < len(body):
            filling = _filling(body[position], made.array, shape)
            if filling is None or not nodes.same(first or filling, filling):
                break
            first = filling
            statement = body[position]
            part = statement.body if isinstance(statement, ast.If) else [statement]
            body[position : position + 1] = part
            position += len(part)


def _filling(statement: ast.stmt, array: str, shape: Sequence[int | None]) -> ast.expr | None:
    """The number that a statement stores to cells of an array, all of which it has."""
    if isinstance(statement, ast.If):
        values = [_filling(each, array, shape) for each in statement.body]
        only = values[0]
        plain = not statement.orelse and all(map(_is_plain, query.preorder(statement.test)))
        is_one = plain and all(nodes.same(only, each) for each in values)
        return only if is_one else None
    header = query.header(statement) if isinstance(statement, ast.For) else None
    if not isinstance(statement, ast.For) or header is None or not is_vector(statement):
        return None
    inner = query.only_statement(statement.body)
    if isinstance(inner, ast.If) and not inner.orelse:  # a mask, which stays
        inner = query.only_statement(inner.body)
    match inner:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name)) as cell], value=value):
            bounds = [query.integer(each) for each in (header.start, header.stop)]
            indices = query.indices(cell)
            inside = len(indices) == len(shape) and all(
                _is_inside(index, size, header.variable, bounds)
                for index, size in zip(indices, shape, strict=True)
            )
            return value if name == array and inside and _is_number(value) else None
    return None


def _is_plain(node: ast.AST) -> bool:
    """Whether a part of a condition neither raises an error nor sets a name."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        return bool(query.integer(node.right))
    return not isinstance(node, (ast.Subscript, ast.Call, ast.NamedExpr))


def _is_inside(
    index: ast.expr, size: int | None, variable: str, bounds: Sequence[int | None]
) -> bool:
    low, high = bounds
    if size is None or low is None or high is None:
        return False
    if isinstance(index, ast.Name) and index.id == variable:
        return low >= 0 and high <= size
    number = query.integer(index)
    return number is not None and 0 <= number < size


def _is_number(value: ast.expr) -> bool:
    """Whether a value is a literal, or one of a type of NumPy."""
    if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
        value = value.args[0] if query.dotted(value.func) is not None else value
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)
