"""Unrolling where vectors are used, so that the cells of register tiles are known."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.forms import affine
from astile.ir import loop_variables, nodes, query
from astile.lower.facts import Facts

#: Most statements that one loop may become.
_MOST = 512


def expand(function: ast.FunctionDef, facts: Facts) -> None:
    """Write out the ``unroll`` loops around, inside and after ``vector`` loops, in place.

    Those after them are the ones that use cells of local arrays that vector loops compute. A loop
    stays where its number of iterations is not known, where it would become too long, and where
    its variable is used after it.

    Args:
        function: the tree to edit.
        facts: its integer names.

    Before:
        for i in unroll(2):
            for j in vector(16):
                c[i, j] += a[i] * b[j]

    After:
        for j in vector(16):
            c[0, j] += a[0] * b[j]
        for j in vector(16):
            c[1, j] += a[1] * b[j]
    """
    headers = [each for each in map(query.header, query.loops(function)) if each is not None]
    kept = loop_variables.read_outside(function.body, [each.variable for each in headers])
    tiles = _tiles(function)
    function.body = _expanded(function.body, facts, kept, tiles, inside=False)


def _tiles(function: ast.FunctionDef) -> set[str]:
    """The local arrays of literal size that vector loops store into."""
    stored = {a for e in query.loops(function) if is_vector(e) for a in query.written_arrays(e)}
    made = [e for e in map(query.allocation, query.statements(function)) if e is not None]
    return {
        each.array
        for each in made
        if each.scope == "local"
        and each.array in stored
        and None not in map(query.integer, each.shape or ())
    }


def is_vector(loop: ast.For) -> bool:
    """Whether a loop is to become operations of vectors.

    Args:
        loop: a counted loop or another one.
    """
    header = query.header(loop)
    return header is not None and header.kind == "vector"


def _expanded(
    body: Sequence[ast.stmt], facts: Facts, kept: set[str], tiles: set[str], *, inside: bool
) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for statement in body:
        header = query.header(statement) if isinstance(statement, ast.For) else None
        within = inside or (header is not None and header.kind == "vector")
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(statement, name, _expanded(inner, facts, kept, tiles, inside=within))
        result += _copies(statement, header, facts, kept, tiles, inside)
    return result


def _copies(
    statement: ast.stmt,
    header: query.Header | None,
    facts: Facts,
    kept: set[str],
    tiles: set[str],
    inside: bool,
) -> list[ast.stmt]:
    if header is None or header.kind != "unroll" or header.variable in kept:
        return [statement]
    assert isinstance(statement, ast.For)
    if statement.orelse or query.leaves_early(statement.body):
        return [statement]
    if not inside and not _holds_vectors(statement) and tiles.isdisjoint(query.names(statement)):
        return [statement]
    bounds = [facts.number(each) for each in (header.start, header.stop, header.step)]
    start, stop, step = bounds
    if start is None or stop is None or not step:
        return [statement]
    values = range(start, stop, step)
    size = sum(1 for _ in query.statements(statement)) - 1
    if len(values) * size > _MOST or header.variable in _names_written(statement.body):
        return [statement]
    return [_at(each, header.variable, value) for value in values for each in statement.body] or [
        ast.Pass()
    ]


def _names_written(body: Sequence[ast.stmt]) -> set[str]:
    return {name for each in body for name in query.names_written(each)}


def _holds_vectors(statement: ast.stmt) -> bool:
    return any(map(is_vector, query.loops(statement)))


def _at(statement: ast.stmt, variable: str, value: int) -> ast.stmt:
    """A copy of a statement for one value of a loop variable, its sums summed up."""
    made = nodes.substitute(statement, {variable: nodes.const(value)})
    for node in query.preorder(made):
        if isinstance(node, ast.Subscript) and not isinstance(node.value, ast.Subscript):
            parts = [_summed(each) for each in query.indices(node)]
            node.slice = nodes.tuple_of(parts) if isinstance(node.slice, ast.Tuple) else parts[0]
        elif isinstance(node, ast.Compare):
            node.left = _summed(node.left)
            node.comparators = [_summed(each) for each in node.comparators]
    return made


def _summed(index: ast.expr) -> ast.expr:
    return affine.simplified(index) if isinstance(index, ast.BinOp) else index
