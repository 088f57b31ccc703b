"""Memory that later iterations load, asked for while earlier ones compute."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.ir import nodes, printer, query
from astile.lower.vectors.words import Words

#: The note of a loop: how many iterations ahead memory is asked for.
PREFETCH = "prefetch"
#: Function of vectors -> where its arguments name the array; the place follows.
_LOADS = {"load": 0, "load_where": 1}
_LINE_BYTES = 64


def iterations(loop: ast.stmt) -> int:
    """How many iterations ahead a loop asks for memory; 0 where its notes do not say so."""
    found = nodes.notes(loop).get(PREFETCH)
    return found if type(found) is int and found > 0 else 0


def added(body: Sequence[ast.stmt], words: Words, sizes: Mapping[str, int]) -> list[ast.stmt]:
    """The statements, with what loops that are noted so will load asked for ahead.

    Rows that have one index beside that along the loop are asked for once for each line of the
    cache. Arrays of the function itself, which it has just stored to, are left out.

    Args:
        body: it is edited in place.
        words: for the name of the function that asks.
        sizes: array of the caller's -> bytes of a cell.

    Before:
        # prefetch = 8
        for j_0 in range(n // 16):
            store(y, j_0 * 16, load(x, j_0 * 16, 16) + load(x, j_0 * 16 + 1, 16))

    After:
        # prefetch = 8
        for j_0 in range(n // 16):
            prefetch(x, j_0 * 16 + 128)
            store(y, j_0 * 16, load(x, j_0 * 16, 16) + load(x, j_0 * 16 + 1, 16))
    """
    for statement in body:
        for inner in query.bodies(statement):
            inner[:] = added(inner, words, sizes)
        if isinstance(statement, ast.For) and iterations(statement):
            statement.body[:0] = _asked_for(statement, words, sizes)
    return list(body)


def _asked_for(loop: ast.For, words: Words, sizes: Mapping[str, int]) -> list[ast.stmt]:
    header = query.header(loop)
    step = None if header is None else query.integer(header.step)
    if header is None or step is None:
        return []
    moved = {header.variable: affine.variable(header.variable) + iterations(loop) * step}
    rows: dict[tuple[str, ...], list[int]] = {}
    made: list[ast.stmt] = []
    for array, place in _loads(loop, words):
        forms = [affine.of(each).substituted(moved) for each in _parts(place)]
        if array not in sizes or not _moves_with(place, header.variable, loop):
            continue
        offset = forms[-1].constant
        row = (array, *(printer.print_expression(each.expression()) for each in _row(forms)))
        known = rows.setdefault(row, [])
        if any(abs(offset - each) * sizes[array] < _LINE_BYTES for each in known):
            continue
        known.append(offset)
        index = [each.expression() for each in forms]
        at = nodes.tuple_of(index) if len(index) > 1 else index[0]
        call = nodes.call(words.intrinsic("prefetch"), [nodes.name(array), at])
        made.append(ast.Expr(call))
    return made


def _row(forms: Sequence[Affine]) -> list[Affine]:
    """A place without the number that is added to its last index."""
    return [*forms[:-1], forms[-1] - forms[-1].constant]


def _parts(place: ast.expr) -> list[ast.expr]:
    return place.elts if isinstance(place, ast.Tuple) else [place]


def _moves_with(place: ast.expr, variable: str, loop: ast.For) -> bool:
    """Whether a place depends on the variable of a loop, and on nothing else that it changes."""
    names = query.names(place)
    changed = {name for each in loop.body for name in query.names_written(each)}
    is_plain = not any(isinstance(each, (ast.Subscript, ast.Call)) for each in ast.walk(place))
    return is_plain and variable in names and names.isdisjoint(changed - {variable})


def _loads(loop: ast.For, words: Words) -> Iterator[tuple[str, ast.expr]]:
    """The arrays that vectors are loaded from below a loop, and the places."""
    functions = {words.intrinsic(each): at for each, at in _LOADS.items() if words.has(each)}
    for node in query.preorder(loop):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            at = functions.get(node.func.id)
            array = None if at is None else node.args[at]
            if at is not None and isinstance(array, ast.Name):
                yield array.id, node.args[at + 1]
