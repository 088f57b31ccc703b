"""Which indices of a kernel are checked when it runs: those not known to stay inside."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from astile.ir import nodes, query
from astile.ir.program import Program


class Judge(Protocol):
    """Whoever knows what holds at one place of a kernel."""

    def is_nonnegative(self, expression: ast.expr) -> bool:
        """Whether an integer expression is proved ``>= 0`` there."""


@dataclass(frozen=True)
class Checks:
    """How the text checks indices that no condition on sizes shows to stay inside.

    Args:
        arrays: those with such an access.
        word: the device function that checks one index.
        failed: the array of one cell that says that an index was outside.
        negative: array, axis and text of indices that may count from the end.
        extents: array -> its literal extents, for those that the program allocates once.
    """

    arrays: frozenset[str]
    word: str
    failed: str
    negative: frozenset[tuple[str, int, str]]
    extents: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict)

    def extent(self, array: str, axis: int) -> int | None:
        """The literal extent of an axis, or None."""
        extents = self.extents.get(array, ())
        return extents[axis] if axis < len(extents) else None

    def stays(self, array: str, axis: int, index: ast.expr, judge: Judge) -> bool:
        """Whether an index is inside a literal extent, from what is known of integers alone."""
        extent = self.extent(array, axis)
        if extent is None:
            return False
        room = nodes.binary(nodes.const(extent - 1), ast.Sub, nodes.clone(index))
        return judge.is_nonnegative(index) and judge.is_nonnegative(room)


def literal_extents(program: Program) -> dict[str, tuple[int | None, ...]]:
    """The literal extents of arrays that a program allocates in one place, None for others.

    A tuple has the one extent that all assignments to its name give it.

    Args:
        program: the program that is lowered.
    """
    stored = [
        each.id
        for each in ast.walk(program.function)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    ]
    stored += query.parameters(program.function)
    found: dict[str, tuple[int | None, ...]] = dict(_of_tuples(program, stored))
    for statement in query.statements(program.function):
        made = query.allocation(statement)
        if made is not None and stored.count(made.array) == 1:
            found[made.array] = tuple(query.integer(each) for each in made.shape or ())
    return found


def _of_tuples(program: Program, stored: list[str]) -> dict[str, tuple[int | None, ...]]:
    """The lengths of names that only ever hold tuples of one length."""
    lengths: dict[str, list[int]] = {}
    for each in query.statements(program.function):
        if not isinstance(each, ast.Assign) or not isinstance(each.value, ast.Tuple):
            continue
        target, cells = each.targets[0], each.value.elts
        is_plain = not any(isinstance(cell, ast.Starred) for cell in cells)
        if isinstance(target, ast.Name) and len(each.targets) == 1 and is_plain:
            lengths.setdefault(target.id, []).append(len(cells))
    return {
        name: (found[0],)
        for name, found in lengths.items()
        if len(found) == stored.count(name) and len(set(found)) == 1
    }
