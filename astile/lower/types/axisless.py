"""Arrays without axes, which `np.where` gives for numbers: where one is used as a number only.

numba makes such an array for each call, in memory of its own, and has no `max` and no join of types
for it. A number is as good as long as nobody changes the array in place or asks for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from astile.ir import query
from astile.lower.types import call_kinds
from astile.lower.types.kinds import Kinds


@dataclass(frozen=True)
class Axisless:
    """Where a program has arrays without axes.

    Args:
        names: that may stand for one.
        shared: those of them that may stand for one with another name.
        are_numbers: whether none is returned or used by its attributes or cells.
    """

    names: frozenset[str]
    shared: frozenset[str]
    are_numbers: bool


def find(kinds: Kinds) -> Axisless:
    """The arrays without axes of a program.

    Args:
        kinds: of its names.
    """
    held = _names(kinds)
    shared: set[str] = set()
    for target, value in _assigned(kinds):
        others = ({e.id for e in _sources(value) if isinstance(e, ast.Name)} & held) - {target}
        shared |= {target, *others} if others else set()
    used = (
        node.value
        for node in ast.walk(kinds.program.function)
        if isinstance(node, (ast.Return, ast.Attribute, ast.Subscript))
    )
    are_numbers = not any(each and _may_be(each, held, kinds) for each in used)
    return Axisless(frozenset(held), frozenset(shared), are_numbers)


def _names(kinds: Kinds) -> set[str]:
    found: set[str] = set()
    size = -1
    while size != len(found):
        size = len(found)
        found |= {name for name, value in _assigned(kinds) if _may_be(value, found, kinds)}
    return found


def _assigned(kinds: Kinds) -> Iterator[tuple[str, ast.expr]]:
    for statement in query.statements(kinds.program.function):
        if isinstance(statement, ast.Assign):
            for each in query.names_written(statement):
                yield each, statement.value


def _may_be(value: ast.expr, held: set[str], kinds: Kinds) -> bool:
    return any(
        (isinstance(each, ast.Name) and each.id in held)
        or (
            isinstance(each, ast.Call)
            and call_kinds.path_of(kinds.program, each.func) == "numpy.where"
            and not kinds.is_array(each)
        )
        for each in _sources(value)
    )


def _sources(value: ast.expr) -> Iterator[ast.expr]:
    """What an expression may hand on as it is."""
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            parts = [body, orelse]
        case ast.Call(func=ast.Name(id="min" | "max"), args=parts):
            pass
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts):
            pass
        case _:
            yield value
            return
    for each in parts:
        yield from _sources(each)
