"""Memory that later iterations load, asked for while earlier ones compute."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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
    cache. Arrays of the function itself, which it has just stored to, are left out. What loops
    inside the noted one load they ask for themselves, the last of those that load a row: that
    goes to the second cache, since the first has little room beside the row at hand.

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
            _ask(statement, words, sizes)
    return list(body)


@dataclass(frozen=True)
class _Load:
    """What a vector is loaded from, some iterations later.

    Args:
        array: its name.
        forms: the index of the first lane, axis by axis.
        asks: the innermost loop that the place depends on.
        branch: the branches around it, by their identity.
    """

    array: str
    forms: tuple[Affine, ...]
    asks: ast.For
    branch: tuple[int, ...]

    def row(self) -> tuple[str, ...]:
        """The array, and all indices but the last."""
        return (self.array, *(printer.print_expression(e.expression()) for e in self.forms[:-1]))

    def line(self) -> tuple[str, ...]:
        """The row, and the last index without the number that is added to it."""
        moving = self.forms[-1] - self.forms[-1].constant
        return (*self.row(), printer.print_expression(moving.expression()))

    def index(self) -> ast.expr:
        """The place."""
        made = [each.expression() for each in self.forms]
        return nodes.tuple_of(made) if len(made) > 1 else made[0]


def _ask(loop: ast.For, words: Words, sizes: Mapping[str, int]) -> None:
    """Put in what asks for the memory of later iterations of a loop."""
    found = [each for each in _later_loads(loop, words) if each.array in sizes]
    last = {(each.branch, each.row()): each.asks for each in found if each.asks is not loop}
    known: dict[tuple[int | str, ...], list[int]] = {}
    asked: dict[int, list[ast.stmt]] = {}
    for each in found:
        if each.asks is not loop and each.asks is not last[each.branch, each.row()]:
            continue
        offset = each.forms[-1].constant
        offsets = known.setdefault((id(each.asks), *each.line()), [])
        if any(abs(offset - other) * sizes[each.array] < _LINE_BYTES for other in offsets):
            continue
        offsets.append(offset)
        word = words.intrinsic("prefetch" if each.asks is loop else "prefetch_second")
        call = nodes.call(word, [nodes.name(each.array), each.index()])
        asked.setdefault(id(each.asks), []).append(ast.Expr(call))
    for asks in {id(each.asks): each.asks for each in found}.values():
        asks.body[:0] = asked.get(id(asks), [])


def _later_loads(loop: ast.For, words: Words) -> Iterator[_Load]:
    """What is loaded below a loop at places that move with it, as its later iterations do."""
    header = query.header(loop)
    step = None if header is None else query.integer(header.step)
    if header is None or step is None:
        return
    moved = {header.variable: affine.variable(header.variable) + iterations(loop) * step}
    changed = {name for each in loop.body for name in query.names_written(each)}
    functions = {words.intrinsic(each): at for each, at in _LOADS.items() if words.has(each)}
    for around, array, place in _loads(loop.body, functions, ()):
        loops = [each for each in around if isinstance(each, ast.For)]
        names = query.names(place)
        counted = {name for each in loops for name in query.names_written(each.target)}
        is_plain = not any(isinstance(e, (ast.Subscript, ast.Call)) for e in query.preorder(place))
        is_known = names.isdisjoint(changed - counted - {header.variable})
        if not is_plain or not is_known or header.variable not in names:
            continue
        deciding = [e for e in loops if not names.isdisjoint(query.names_written(e.target))]
        forms = tuple(affine.of(each).substituted(moved) for each in _parts(place))
        branch = tuple(id(each) for each in around if not isinstance(each, ast.For))
        yield _Load(array, forms, deciding[-1] if deciding else loop, branch)


def _parts(place: ast.expr) -> list[ast.expr]:
    return place.elts if isinstance(place, ast.Tuple) else [place]


def _loads(
    body: Sequence[ast.stmt], functions: Mapping[str, int], around: tuple[object, ...]
) -> Iterator[tuple[tuple[object, ...], str, ast.expr]]:
    """Each load of a vector: the loops and the branches around it, the array, and the place."""
    for statement in body:
        for part in ast.iter_child_nodes(statement):
            for node in query.preorder(part) if isinstance(part, ast.expr) else ():
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    at = functions.get(node.func.id)
                    array = None if at is None else node.args[at]
                    if at is not None and isinstance(array, ast.Name):
                        yield around, array.id, node.args[at + 1]
        for each in query.bodies(statement):
            inner = statement if isinstance(statement, ast.For) else each
            yield from _loads(each, functions, (*around, inner))
