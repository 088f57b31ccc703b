"""Variables of loops: where something reads them that is not inside of their loops."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from astile.ir import query


def read_outside_loops(
    body: Sequence[ast.stmt], variable: str, *, is_set: bool = False
) -> ast.Name | None:
    """Where a variable is read outside of the loops over it, or None.

    Args:
        body: statements in order.
        variable: of loops in them.
        is_set: whether it holds what an assignment gave it before; reads of that do not count.
    """
    for statement in body:
        found: ast.Name | None = None
        parts = query.bodies(statement)
        ends_in_loop = is_set and any(
            variable in query.names_written(each.target) for each in query.loops(statement)
        )
        if isinstance(statement, ast.For) and variable in query.names_written(statement.target):
            found = None if is_set else _load_of(statement.iter, variable)
        elif parts:
            again = isinstance(statement, (ast.For, ast.While)) and ends_in_loop
            inside = is_set and not again
            inner = [read_outside_loops(each, variable, is_set=inside) for each in parts]
            own = [] if inside else [_load_of(each, variable) for each in _expressions(statement)]
            found = next((each for each in [*own, *inner] if each is not None), None)
        elif not is_set:
            found = _load_of(statement, variable) or _updated(statement, variable)
            written = query.names_written(statement)
            is_set = isinstance(statement, ast.Assign) and variable in written
        if found is not None:
            return found
        is_set = is_set and not ends_in_loop
    return None


def read_outside(body: Sequence[ast.stmt], variables: Iterable[str]) -> set[str]:
    """The variables that `read_outside_loops` finds something for.

    Args:
        body: statements in order.
        variables: of loops in them.
    """
    candidates = _read_outside_any(body).intersection(variables)
    return {each for each in candidates if read_outside_loops(body, each) is not None}


def _read_outside_any(body: Sequence[ast.stmt]) -> set[str]:
    """Names that are read anywhere but inside of loops over them."""
    found: set[str] = set()
    for statement in body:
        parts = query.bodies(statement)
        if not parts:
            found |= query.names_read(statement)
            if isinstance(statement, ast.AugAssign):
                found |= query.names_written(statement)
            continue
        inner = {name for each in parts for name in _read_outside_any(each)}
        if isinstance(statement, ast.For):
            inner -= query.names_written(statement.target)
        found |= inner.union(*map(query.names_read, _expressions(statement)))
    return found


def _updated(statement: ast.stmt, variable: str) -> ast.Name | None:
    """The name in ``i += 1``, which reads it too."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name) as target) if name == variable:
            return target
    return None


def _expressions(statement: ast.stmt) -> list[ast.expr]:
    return [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.expr)]


def _load_of(root: ast.AST, variable: str) -> ast.Name | None:
    found = (each for each in query.preorder(root) if isinstance(each, ast.Name))
    loads = (each for each in found if each.id == variable and isinstance(each.ctx, ast.Load))
    return next(loads, None)
