"""Names for the rows that vectors are loaded from and stored to, computed before their loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from astile.ir import nodes, printer, query
from astile.lower.vectors.words import Words

_VECTORS = "astile.intrinsics.vectors."
#: What an index is called, by its axis from the last one.
_CALLED = {2: "row", 3: "plane"}


def named(body: Sequence[ast.stmt], words: Words) -> list[ast.stmt]:
    """The statements, with a name for each row that a loop uses several times.

    Args:
        body: it is edited in place.
        words: for the names.

    Before:
        for j in range(0, n, 16):
            store(y, (i_0 * 8 + i_1, j), load(x, (i_0 * 8 + i_1, j), 16))

    After:
        row = i_0 * 8 + i_1
        for j in range(0, n, 16):
            store(y, (row, j), load(x, (row, j), 16))
    """
    functions = {name for name, path in words.imports.items() if path.startswith(_VECTORS)}
    return _named(body, words, functions)


def _named(body: Sequence[ast.stmt], words: Words, functions: set[str]) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.For):
            result += _hoisted(statement, words, functions)
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(statement, name, _named(inner, words, functions))
        result.append(statement)
    return result


def _hoisted(loop: ast.For, words: Words, functions: set[str]) -> list[ast.stmt]:
    """Names for the rows that are the same in all iterations of a loop, put in."""
    changed = query.names_written(loop)
    places: dict[str, list[tuple[ast.Tuple, int]]] = {}
    for place in _places(loop, functions):
        for position, index in enumerate(place.elts[:-1]):
            if isinstance(index, ast.BinOp) and not query.names(index) & changed:
                key = printer.print_expression(index)
                places.setdefault(key, []).append((place, position))
    made: list[ast.stmt] = []
    for found in places.values():
        if len(found) < 2:
            continue
        place, position = found[0]
        name = words.fresh(_CALLED.get(len(place.elts) - position, "at"))
        made.append(nodes.assign(name, place.elts[position]))
        for each, axis in found:
            each.elts[axis] = nodes.name(name)
    return made


def _places(loop: ast.For, functions: set[str]) -> Iterator[ast.Tuple]:
    """The places in memory that the vectors below a loop name, each index a plain number."""
    for node in query.preorder(loop):
        if isinstance(node, ast.Call) and query.dotted(node.func) in functions:
            for each in node.args[:3]:
                if isinstance(each, ast.Tuple) and not _reads_cells(each):
                    yield each


def _reads_cells(place: ast.Tuple) -> bool:
    """Whether an index is read from an array, or computed by a call."""
    return any(isinstance(each, (ast.Subscript, ast.Call)) for each in query.preorder(place))
