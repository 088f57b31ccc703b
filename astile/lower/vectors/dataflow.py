"""What flows between the statements of vector loops, and which local rows are how long."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.ir import query
from astile.lower.facts import Facts


def rows(function: ast.FunctionDef, known: Facts) -> dict[str, int]:
    """Arrays that the function allocates -> their last extents, where these are numbers."""
    found: dict[str, set[int | None]] = {}
    for statement in query.statements(function):
        made = query.allocation(statement)
        if made is not None:
            width = known.number(made.shape[-1]) if made.shape else None
            found.setdefault(made.array, set()).add(width)
    single = {array: next(iter(widths)) for array, widths in found.items() if len(widths) == 1}
    return {array: width for array, width in single.items() if width is not None}


def changed_beside(body: Sequence[ast.stmt], array: str) -> set[str]:
    """Names that are written in the blocks in which an array is allocated."""
    found: set[str] = set()
    for statement in body:
        made = query.allocation(statement)
        if made is not None and made.array == array:
            found |= {name for each in body for name in query.names_written(each)}
        for part in query.bodies(statement):
            found |= changed_beside(part, array)
    return found


def varying_in(body: Sequence[ast.stmt], varying: set[str], *, is_masked: bool) -> set[str]:
    """Names that are set to what differs from lane to lane, or in some lanes only."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, (ast.Assign, ast.AugAssign)):
            targets = (
                [statement.target] if isinstance(statement, ast.AugAssign) else statement.targets
            )
            differs = is_masked or not query.names(statement.value).isdisjoint(varying)
            found |= {e.id for e in targets if isinstance(e, ast.Name) and differs}
        masked = is_masked
        if isinstance(statement, ast.If):
            masked = masked or not query.names(statement.test).isdisjoint(varying)
        for part in query.bodies(statement):
            found |= varying_in(part, varying, is_masked=masked)
    return found


def is_of_bounds(mask: ast.AST, below: str) -> bool:
    """Whether a mask depends on integers alone, which are the same wherever it is written.

    Args:
        mask: the mask.
        below: the name of the function that compares a counter with a bound.
    """
    return all(
        isinstance(node.func, ast.Name) and node.func.id in (below, "min", "max", "len")
        if isinstance(node, ast.Call)
        else not isinstance(node, ast.Subscript) or query.is_shape_of(node)
        for node in query.preorder(mask)
    ) and all(isinstance(each, ast.Call) for each in _alone(mask))


def _alone(mask: ast.AST) -> list[ast.AST]:
    """The masks that a mask is made of."""
    if isinstance(mask, ast.Expression):
        return _alone(mask.body)
    if isinstance(mask, ast.BinOp):
        return _alone(mask.left) + _alone(mask.right)
    return _alone(mask.operand) if isinstance(mask, ast.UnaryOp) else [mask]
