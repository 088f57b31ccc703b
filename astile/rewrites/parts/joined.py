"""Guards that follow each other and ask the same become one."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.forms import affine, clamps
from astile.analysis.forms.affine import Affine
from astile.ir import nodes, query
from astile.rewrites.parts.result import conditions, is_guard


def joined(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements, with one guard for those that follow each other and hold together.

    Before:
        if i_0 * 16 + i_1 + 2 < n:
            a[i_1] = x[i_0 * 16 + i_1 + 2]
        if i_0 * 16 + i_1 < n - 2:
            y[i_0 * 16 + i_1] = a[i_1]

    After:
        if i_0 * 16 + i_1 < n - 2:
            a[i_1] = x[i_0 * 16 + i_1 + 2]
            y[i_0 * 16 + i_1] = a[i_1]

    Args:
        body: statements that stand one after another; those inside are edited in place.
    """
    made: list[ast.stmt] = []
    for each in body:
        for inner in query.bodies(each):
            inner[:] = joined(inner)
        last = made[-1] if made else None
        if last is not None and _holds_again(last, each):
            assert isinstance(last, ast.If)
            assert isinstance(each, ast.If)
            last.test = min(last.test, each.test, key=affine.cost)
            last.body = joined([*last.body, *each.body])
        else:
            made.append(each)
    return made


def _holds_again(first: ast.stmt, second: ast.stmt) -> bool:
    """Whether the second guard holds exactly where the first does, when it is reached."""
    if not is_guard(first) or not is_guard(second) or nodes.comments(second):
        return False
    assert isinstance(first, ast.If)
    assert isinstance(second, ast.If)
    one, other = _gaps(first), _gaps(second)
    if one is None or other is None or set(one) != set(other):
        return False
    changed = {name for each in first.body for name in query.names_written(each)}
    return not changed & (query.names(first.test) | query.names(second.test))


def _gaps(guard: ast.If) -> list[Affine] | None:
    """What is not negative where a guard holds; None for a guard that depends on cells."""
    if any(not query.is_shape_of(each) for each in query.accesses(guard.test)):
        return None
    gaps = [clamps.gap_of(each) for each in conditions(guard)]
    return None if any(each is None for each in gaps) else [affine.of(g) for g in gaps if g]
