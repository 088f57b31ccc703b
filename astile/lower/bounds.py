"""Guards turned into loop bounds: what a compiler needs to vectorise a tile's inner loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.ir import nodes, query
from astile.ir.query import Header
from astile.lower.facts import Facts


def tighten(function: ast.FunctionDef, facts: Facts) -> None:
    """Turn guards directly under loops into the loops' bounds, in place.

    A guard linear in the loop's variable with coefficient 1 or -1 becomes a bound; one that
    does not depend on it moves outside, where the next loop may take it up. Others stay.

    Args:
        function: the tree to edit.
        facts: its integer names.

    Before:
        for i_1 in range(16):
            if i_0 * 16 + i_1 < H:
                y[i_0 * 16 + i_1] = 0.0

    After:
        for i_1 in range(min(16, H - i_0 * 16)):
            y[i_0 * 16 + i_1] = 0.0
    """
    live = variables_read_outside(function)
    function.body = _tightened(function.body, facts, live)


def hoist(function: ast.FunctionDef, facts: Facts) -> None:
    """Move conditions that do not depend on them out of ``vector`` and ``unroll`` loops, in place.

    The iterations of these loops stay as they are: what is known of them makes vectors.

    Args:
        function: the tree to edit.
        facts: its integer names.

    Before:
        for j in vector(16):
            if j_0 * 16 + j < N and k < K:
                c[j] += b[j_0 * 16 + j]

    After:
        if k < K:
            for j in vector(16):
                if j_0 * 16 + j < N:
                    c[j] += b[j_0 * 16 + j]
    """
    function.body = _hoisted(function.body, facts, variables_read_outside(function))


def _hoisted(body: list[ast.stmt], facts: Facts, live: set[str]) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for statement in body:
        for field_name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field_name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(statement, field_name, _hoisted(inner, facts, live))
        result.append(_freed(_joined(statement), facts, live))
    return result


def _joined(statement: ast.stmt) -> ast.stmt:
    """Two conditions, one directly under the other, as one."""
    if not isinstance(statement, ast.If) or statement.orelse:
        return statement
    inner = query.only_statement(statement.body)
    if not isinstance(inner, ast.If) or inner.orelse:
        return statement
    if nodes.comments(statement) or nodes.comments(inner):
        return statement
    return nodes.if_then(nodes.conjunction([statement.test, inner.test]), inner.body)


def _freed(loop: ast.stmt, facts: Facts, live: set[str]) -> ast.stmt:
    """A loop inside of the part of its guard that is the same in all iterations."""
    if not isinstance(loop, ast.For):
        return loop
    header = query.header(loop)
    guard = query.only_statement(loop.body)
    if header is None or header.kind not in ("vector", "unroll") or loop.orelse:
        return loop
    if header.variable in live:
        return loop
    if not isinstance(guard, ast.If) or guard.orelse:
        return loop
    fixed = {name for each in guard.body for name in query.names_written(each)}
    parts = conjuncts(guard.test)
    found = _sorted(parts, header.variable, fixed | {header.variable}, facts)
    if not found.outer:
        return loop
    inner = [each for each in parts if not any(each is e for e in found.outer)]
    loop.body = [nodes.if_then(nodes.conjunction(inner), guard.body)] if inner else guard.body
    return nodes.if_then(nodes.conjunction(found.outer), [loop])


def _tightened(body: list[ast.stmt], facts: Facts, live: set[str]) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for statement in body:
        for field_name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field_name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(statement, field_name, _tightened(inner, facts, live))
        if isinstance(statement, ast.For):
            result.append(_absorbed(statement, facts, live))
        else:
            result.append(statement)
    return result


def _absorbed(loop: ast.For, facts: Facts, live: set[str]) -> ast.stmt:
    """The loop with the guard under it taken up, inside a guard of what moved out."""
    header = query.header(loop)
    guard = query.only_statement(loop.body)
    if (
        header is None
        or not query.is_constant(header.step, 1)
        or header.variable in live
        or loop.orelse
        or not isinstance(guard, ast.If)
        or guard.orelse
    ):
        return loop
    fixed = {name for each in guard.body for name in query.names_written(each)}
    fixed.add(header.variable)
    sorted_out = _sorted(conjuncts(guard.test), header.variable, fixed, facts)
    if not sorted_out.lower and not sorted_out.upper and not sorted_out.outer:
        return loop
    loop.body = guard.body
    if sorted_out.kept:
        loop.body = [nodes.if_then(nodes.conjunction(sorted_out.kept), guard.body)]
    _set_bounds(loop, header, sorted_out)
    if sorted_out.outer:
        return nodes.if_then(nodes.conjunction(sorted_out.outer), [loop])
    return loop


@dataclass
class _Sorted:
    lower: list[Affine] = field(default_factory=list)
    upper: list[Affine] = field(default_factory=list)
    outer: list[ast.expr] = field(default_factory=list)
    kept: list[ast.expr] = field(default_factory=list)


def _sorted(
    conditions: Sequence[ast.expr], variable: str, fixed: set[str], facts: Facts
) -> _Sorted:
    found = _Sorted()
    for condition in conditions:
        form = nonnegative_form(condition, facts)
        if form is None:
            found.kept.append(condition)
            continue
        rest = form.without(variable)
        coefficient = form.coefficient(variable)
        if rest.names() & fixed:
            found.kept.append(condition)
        elif coefficient == 0:
            is_free = not query.names(condition) & fixed
            (found.outer if is_free else found.kept).append(condition)
        elif coefficient == 1:
            found.lower.append(-rest)
        elif coefficient == -1:
            found.upper.append(rest + 1)
        else:
            found.kept.append(condition)
    return found


def conjuncts(condition: ast.expr) -> list[ast.expr]:
    """The conditions joined by ``and``; ``a <= b < c`` counts as two."""
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
        return [part for each in condition.values for part in conjuncts(each)]
    if isinstance(condition, ast.Compare) and len(condition.ops) > 1:
        sides = [condition.left, *condition.comparators]
        return [
            nodes.compare(nodes.clone(left), type(operator), nodes.clone(right))
            for left, operator, right in zip(sides, condition.ops, sides[1:], strict=False)
        ]
    return [condition]


def nonnegative_form(condition: ast.expr, facts: Facts) -> Affine | None:
    """The form f for which the condition means ``f >= 0``; None where there is none.

    Only integer comparisons that cannot raise have one.
    """
    if not isinstance(condition, ast.Compare) or len(condition.ops) != 1:
        return None
    if not facts.is_static(condition) or _may_raise(condition):
        return None
    left, right = affine.of(condition.left), affine.of(condition.comparators[0])
    operator = condition.ops[0]
    if isinstance(operator, ast.Lt):
        return right - left - 1
    if isinstance(operator, ast.LtE):
        return right - left
    if isinstance(operator, ast.Gt):
        return left - right - 1
    if isinstance(operator, ast.GtE):
        return left - right
    return None


def _may_raise(condition: ast.expr) -> bool:
    """Whether it divides by what is no literal."""
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, (ast.FloorDiv, ast.Mod))
        and not query.integer(node.right)
        for node in ast.walk(condition)
    )


def _set_bounds(loop: ast.For, header: Header, found: _Sorted) -> None:
    start = _extreme("max", header.start, found.lower)
    stop = _extreme("min", header.stop, found.upper)
    arguments = [stop] if query.is_constant(start, 0) else [start, stop]
    iterator = loop.iter
    assert isinstance(iterator, ast.Call)
    loop.iter = nodes.call(nodes.clone(iterator.func), arguments)


def _extreme(word: str, bound: ast.expr, others: Sequence[Affine]) -> ast.expr:
    """``word(bound, *others)`` with numbers merged and duplicates dropped."""
    forms = [affine.of(bound), *others]
    numbers = [each for each in forms if each.value is not None]
    rest = [each for each in forms if each.value is None]
    return affine.extreme(word, [*numbers, *rest]).expression()


def variables_read_outside(function: ast.FunctionDef) -> set[str]:
    """Loop variables that are read where no loop over them is around."""
    found: set[str] = set()

    def walk(body: Sequence[ast.stmt], inside: set[str]) -> None:
        for statement in body:
            if isinstance(statement, ast.For):
                own = inside | query.names_written(statement.target)
                found.update(query.names_read(statement.iter) - inside)
                walk(statement.body, own)
                walk(statement.orelse, inside)
            elif query.bodies(statement):
                found.update(_own_reads(statement) - inside)
                for each in query.bodies(statement):
                    walk(each, inside)
            else:
                found.update(query.names_read(statement) - inside)

    walk(function.body, set())
    return found


def _own_reads(statement: ast.stmt) -> set[str]:
    """Names read by a compound statement itself, the statements inside it left out."""
    return {
        name
        for child in ast.iter_child_nodes(statement)
        if isinstance(child, (ast.expr, ast.withitem))
        for name in query.names_read(child)
    }
