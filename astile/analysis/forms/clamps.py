"""Values that a condition keeps within a range, as calls of `min` and `max`.

``i - 1 if i > 0 else 0`` is ``max(i - 1, 0)``, and so is `l` after ``l = i - 1`` and
``if l < 0: l = 0``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.ir import nodes, query


def form(expression: ast.expr, values: Mapping[str, Affine] | None = None) -> Affine:
    """The form of an expression, in which clamps are calls of `min` and `max`.

    Args:
        expression: of integers.
        values: forms of some of the names in it.
    """
    if isinstance(expression, ast.IfExp):
        found = _chosen(
            expression.test, form(expression.body, values), form(expression.orelse, values), values
        )
        if found is not None:
            return found
    return affine.of(expression).substituted(values or {})


def after(statement: ast.If, values: Mapping[str, Affine]) -> tuple[str, Affine] | None:
    """The name that a condition clamps, and its form behind the condition; None for another one.

    Args:
        statement: the condition.
        values: forms of names before it.
    """
    name = _only_name(statement)
    if name is None or name not in values:
        return None
    found = _branches(statement, name, values)
    return None if found is None else (name, found)


def _only_name(statement: ast.If) -> str | None:
    """The name to which every branch gives a value, where they do nothing else."""
    written = query.names_written(statement)
    return next(iter(written)) if len(written) == 1 else None


def _branches(statement: ast.If, name: str, values: Mapping[str, Affine]) -> Affine | None:
    parts: list[Affine] = []
    for body in (statement.body, statement.orelse):
        match body:
            case []:
                parts.append(values[name])
            case [ast.Assign(targets=[ast.Name()], value=value)]:
                parts.append(form(value, values))
            case [ast.If() as inner]:
                found = _branches(inner, name, values)
                if found is None:
                    return None
                parts.append(found)
            case _:
                return None
    return _chosen(statement.test, parts[0], parts[1], values)


def _chosen(
    test: ast.expr, one: Affine, other: Affine, values: Mapping[str, Affine] | None
) -> Affine | None:
    """``one if test else other`` as the greater or the lesser of the two, None for neither."""
    compared = gap_of(test)
    if compared is None:
        return None
    gap, apart = form(compared, values), one - other
    found = word((apart - gap).value, (apart + gap).value)
    if found is None:
        return None
    return affine.extreme(found, [one, other])


def gap_of(test: ast.expr) -> ast.expr | None:
    """An expression that is at least 0 exactly where a comparison of integers holds."""
    match test:
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() as op], comparators=[right]):
            left, right = right, left
        case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE() as op], comparators=[right]):
            pass
        case _:
            return None
    gap = nodes.binary(nodes.clone(left), ast.Sub, nodes.clone(right))
    if isinstance(op, (ast.Lt, ast.Gt)):
        gap = nodes.binary(gap, ast.Sub, nodes.const(1))
    return gap


def word(less: int | None, more: int | None) -> str | None:
    """``max`` where a value that is chosen where ``gap >= 0`` is then the greater one, or ``min``.

    Args:
        less: how far it is from the other value, less the gap; None where that is no number.
        more: how far it is from the other value, and the gap.
    """
    if less in (0, 1):
        return "max"
    return "min" if more in (0, -1) else None
