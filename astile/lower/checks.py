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

    def stays(self, array: str, axis: int, index: ast.expr, judge: Judge) -> bool:
        """Whether an index is inside a literal extent, from what is known of integers alone."""
        extents = self.extents.get(array, ())
        extent = extents[axis] if axis < len(extents) else None
        if extent is None:
            return False
        room = nodes.binary(nodes.const(extent - 1), ast.Sub, nodes.clone(index))
        return judge.is_nonnegative(index) and judge.is_nonnegative(room)


def literal_extents(program: Program) -> dict[str, tuple[int | None, ...]]:
    """The literal extents of arrays that a program allocates in one place, None for others.

    Args:
        program: the program that is lowered.
    """
    stored = [
        each.id
        for each in ast.walk(program.function)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    ]
    stored += query.parameters(program.function)
    found: dict[str, tuple[int | None, ...]] = {}
    for statement in query.statements(program.function):
        made = query.allocation(statement)
        if made is not None and stored.count(made.array) == 1:
            found[made.array] = tuple(query.integer(each) for each in made.shape or ())
    return found
