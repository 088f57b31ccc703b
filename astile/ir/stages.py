"""Stages: the statements that write one array in one nest, and move together."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from astile.ir import query

#: The statements around one, outermost first.
Parents: TypeAlias = tuple[ast.stmt, ...]


@dataclass(frozen=True)
class Stage:
    """The statements of one nest that write one array (or scalar).

    Args:
        name: the array's name; ``C#0``, ``C#1`` when several stages write it.
        array: the array (or scalar) that they write.
        positions: where the statements stand, counted over all statements of the function in
            textual order. A clone of the program has the same positions.
    """

    name: str
    array: str
    positions: tuple[int, ...]


def stages(function: ast.FunctionDef) -> list[Stage]:
    """All stages in program order; allocations are none.

    Two statements that write the same array are one stage unless they stand in different
    loops beside each other: ``C[i, j] = 0`` and the loop over ``C[i, j] += ...`` are one.
    """
    found: list[tuple[str, list[tuple[int, Parents]]]] = []
    for position, (statement, parents) in enumerate(_walk(function, ())):
        if position == 0 or query.bodies(statement) or query.is_allocation(statement):
            continue
        for array in _written(statement):
            for name, members in found:
                if name == array and _together(members[-1][1], parents):
                    members.append((position, parents))
                    break
            else:
                found.append((array, [(position, parents)]))
    return [_stage(index, found) for index in range(len(found))]


def _walk(statement: ast.stmt, parents: Parents) -> Iterator[tuple[ast.stmt, Parents]]:
    """A statement and all below it, each with those around it, the function left out."""
    yield statement, parents
    inner = parents if isinstance(statement, ast.FunctionDef) else (*parents, statement)
    for body in query.bodies(statement):
        for each in body:
            yield from _walk(each, inner)


def _stage(index: int, found: list[tuple[str, list[tuple[int, Parents]]]]) -> Stage:
    array, members = found[index]
    same = [k for k, (name, _) in enumerate(found) if name == array]
    name = array if len(same) == 1 else f"{array}#{same.index(index)}"
    return Stage(name, array, tuple(position for position, _ in members))


def _written(statement: ast.stmt) -> list[str]:
    arrays = query.written_arrays(statement)
    scalars = sorted(query.names_written(statement)) if not arrays else []
    return arrays or scalars


def _together(first: Parents, second: Parents) -> bool:
    """Whether two places share a nest: below their common loop, one has no loop of its own."""
    common = 0
    for one, other in zip(first, second, strict=False):
        if one is not other:
            break
        common += 1
    own = [any(isinstance(p, ast.For) for p in each[common:]) for each in (first, second)]
    if all(own):
        return False
    # statements of the function's own body that share no loop are stages of their own
    return bool(common) or not any(own)
