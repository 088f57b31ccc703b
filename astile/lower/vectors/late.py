"""Stores of a loop of vectors two iterations late, after the reads of those that follow.

A processor lets a read wait for the stores before it where the last 12 bits of their addresses
meet, since it does not know yet whether all of them do. Arrays with rows of 4096 bytes, or a
multiple, lie so: `b[i, j]` is stored, and then `a[i, j + 15]`, the left neighbour in the next
vector, is read. See "4K aliasing" in Intel's optimization manual. Two iterations, since arrays may
begin one line of memory apart.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.ir import nodes, query
from astile.lower.vectors.places import Lanes
from astile.lower.vectors.words import Words

#: Writes the statements of one vector, which begins at a place of the loop.
Block = Callable[[Affine], list[ast.stmt]]


@dataclass(frozen=True)
class _Vector:
    """What one vector computes, in names, and what it then stores."""

    names: list[ast.stmt]
    stores: list[ast.Call]


def strips(
    block: Block, lanes: Lanes, end: Affine, words: Words, *, is_late: bool
) -> tuple[list[ast.stmt], ast.For]:
    """The statements for all whole vectors of a loop, and the loop among them.

    Args:
        block: writes the statements of a vector.
        lanes: of the first vector.
        end: where the last one ends.
        words: for names.
        is_late: whether stores are to wait; those that cannot do not.

    Before:
        for j in range(16, end, 16):
            store(b, (i, j), load(a, (i, j - 1), 16))

    After, where stores wait:
        if 48 <= end:
            b_older = load(a, (i, 15), 16)
            b_old = load(a, (i, 31), 16)
            for j in range(48, end, 16):
                b_new = load(a, (i, j - 1), 16)
                store(b, (i, j - 32), b_older)
                b_older = b_old
                b_old = b_new
            store(b, (i, end - 32), b_older)
            store(b, (i, end - 16), b_old)
        else:
            for j in range(16, end, 16):
                store(b, (i, j), load(a, (i, j - 1), 16))
    """
    here = affine.variable(lanes.variable)
    now = block(here)
    third = lanes.first + 2 * lanes.count
    room = (end - third).value
    parts = _vector(now, words) if is_late and (room is None or room >= 0) else None
    if parts is None:
        loop = _loop(lanes, lanes.first, end, now)
        return [loop], loop
    names = [_names(each, words) for each in parts.stores]
    older, old, new = zip(*names, strict=True)
    first, second = (block(each) for each in (lanes.first, lanes.first + lanes.count))
    made = [*_computed(first, older, words), *_computed(second, old, words)]
    body = _computed(now, new, words)
    body += _stored(block(here - 2 * lanes.count), older, words)
    for each in names:
        body += [nodes.assign(to, nodes.name(value)) for to, value in itertools.pairwise(each)]
    loop = _loop(lanes, third, end, body)
    made += [loop, *_stored(block(end - 2 * lanes.count), older, words)]
    made += _stored(block(end - lanes.count), old, words)
    if room is None:
        are_two = nodes.compare(third.expression(), ast.LtE, end.expression())
        one = _loop(lanes, lanes.first, end, block(here))
        made = [nodes.if_then(are_two, made, [one])]
    return made, loop


def _loop(lanes: Lanes, start: Affine, end: Affine, body: list[ast.stmt]) -> ast.For:
    limits = [start.expression(), end.expression(), nodes.const(lanes.count)]
    return nodes.for_loop(lanes.variable, nodes.call("range", limits), body)


def _names(store: ast.Call, words: Words) -> tuple[str, str, str]:
    array = query.base_name(store.args[0]) or ""
    older, old, new = (words.fresh(f"{array}_{each}") for each in ("older", "old", "new"))
    return older, old, new


def _computed(block: list[ast.stmt], to: Sequence[str], words: Words) -> list[ast.stmt]:
    """What a vector computes, what it would store in names."""
    vector = _known(block, words)
    stored = zip(to, vector.stores, strict=True)
    return [*vector.names, *(nodes.assign(name, each.args[2]) for name, each in stored)]


def _stored(block: list[ast.stmt], held: Sequence[str], words: Words) -> list[ast.stmt]:
    """The stores of a vector, of what names hold."""
    made: list[ast.stmt] = []
    for name, each in zip(held, _known(block, words).stores, strict=True):
        function = query.dotted(each.func) or ""
        made.append(ast.Expr(nodes.call(function, [*each.args[:2], nodes.name(name)])))
    return made


def _known(block: list[ast.stmt], words: Words) -> _Vector:
    """The parts of one of several vectors that are alike."""
    found = _vector(block, words)
    assert found is not None
    return found


def _vector(statements: list[ast.stmt], words: Words) -> _Vector | None:
    """The parts of a vector whose stores may come after all else; None for another one."""
    names: list[ast.stmt] = []
    stores: list[ast.Call] = []
    for each in statements:
        match each:
            case ast.Assign(targets=[ast.Name()]):
                names.append(each)
            case ast.Expr(value=ast.Call(args=[ast.Name(), _, _]) as call):
                if query.dotted(call.func) != words.intrinsic("store"):
                    return None
                stores.append(call)
            case _:
                return None
    written = {query.base_name(each.args[0]) for each in stores}
    read = {name for each in names for name in query.names(each)}
    read |= {name for call in stores for each in call.args[1:] for name in query.names(each)}
    return _Vector(names, stores) if stores and written.isdisjoint(read) else None
