"""Makes a rewritten program good to read: index arithmetic, guards that are always true.

Runs after every rewrite. What it changes is covered by the same proof as the rewrite.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis import affine, intervals
from astile.analysis.affine import Affine
from astile.analysis.context import Context
from astile.analysis.intervals import Range
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.result import conditions, is_guard


def simplify(program: Program) -> Program:
    """The same program with shorter indices and without needless guards.

    Before:
        for i_1 in range(16):
            if i_0 * 16 + i_1 + 0 < 224:  # i_0 < 14
                tile[i_0 * 16 + i_1 - i_0 * 16] = x[i_0 * 16 + i_1]

    After:
        for i_1 in range(16):
            tile[i_1] = x[i_0 * 16 + i_1]

    Args:
        program: the program; it is not changed.
    """
    new = program.cloned()
    new.function.body = _body(new.function.body, [])
    _drop_guards(new)
    return new


def _body(body: Sequence[ast.stmt], ranges: list[Range]) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for statement in body:
        result += _statement(statement, ranges)
    return result


def _statement(statement: ast.stmt, ranges: list[Range]) -> list[ast.stmt]:
    if isinstance(statement, ast.For):
        statement.iter = _Indices(ranges).header(statement)
        found = intervals.range_of(statement)
        inner = _without(ranges, query.names_written(statement))
        if found is not None and found.variable not in _written_inside(statement):
            inner = [*inner, found]
        statement.body = _body(statement.body, inner)
        return [statement] if statement.body else []
    if is_guard(statement):
        assert isinstance(statement, ast.If)
        statement.test = _Indices(ranges).condition(statement.test)
        statement.body = _body(statement.body, ranges)
        inner_guard = query.only_statement(statement.body)
        if inner_guard is not None and is_guard(inner_guard) and isinstance(inner_guard, ast.If):
            both = [*conditions(statement), *conditions(inner_guard)]
            merged = nodes.if_then(nodes.conjunction(both), inner_guard.body)
            for comment in (*nodes.comments(statement), *nodes.comments(inner_guard)):
                nodes.add_comment(merged, comment)
            return [merged]
        return [statement] if statement.body else []
    for field in ("body", "orelse"):
        held = getattr(statement, field, None)
        if isinstance(held, list):
            setattr(statement, field, _body(held, ranges))
    _Indices(ranges).visit(statement)
    return [statement]


def _without(ranges: list[Range], variables: set[str]) -> list[Range]:
    return [each for each in ranges if each.variable not in variables]


def _written_inside(loop: ast.For) -> set[str]:
    return set().union(*(query.names_written(each) for each in loop.body))


class _Indices(ast.NodeTransformer):
    """Rewrites index expressions in place where the normal form is shorter."""

    def __init__(self, ranges: list[Range]) -> None:
        self.ranges = ranges

    def integer(self, expression: ast.expr) -> ast.expr:
        normal = _with_ranges(affine.of(expression), self.ranges).expression()
        return normal if affine.cost(normal) < affine.cost(expression) else expression

    def header(self, loop: ast.For) -> ast.expr:
        if query.header(loop) is None:
            return loop.iter
        assert isinstance(loop.iter, ast.Call)
        loop.iter.args = [self.integer(each) for each in loop.iter.args]
        return loop.iter

    def condition(self, test: ast.expr) -> ast.expr:
        if isinstance(test, ast.BoolOp):
            test.values = [self.condition(each) for each in test.values]
        elif isinstance(test, ast.Compare):
            test.left = self.integer(test.left)
            test.comparators = [self.integer(each) for each in test.comparators]
            if len(test.comparators) == 1:
                test.left, test.comparators[0] = _balanced(test.left, test.comparators[0])
        return test

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._index(each) for each in node.slice.elts]
        else:
            node.slice = self._index(node.slice)
        return node

    def _index(self, expression: ast.expr) -> ast.expr:
        if isinstance(expression, (ast.Slice, ast.Starred)):
            self.generic_visit(expression)
            return expression
        expression = self.visit(expression)
        return self.integer(expression)

    def visit_If(self, node: ast.If) -> ast.AST:
        node.test = self.visit(node.test)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        return node


def _balanced(left: ast.expr, right: ast.expr) -> tuple[ast.expr, ast.expr]:
    """Both sides of a comparison less the constant of the longer one, where that is shorter."""
    one, other = affine.of(left), affine.of(right)
    shift = other.constant if len(other.terms) > len(one.terms) else one.constant
    moved = (one - shift).expression(), (other - shift).expression()
    shorter = sum(map(affine.cost, moved)) < affine.cost(left) + affine.cost(right)
    return moved if shorter else (left, right)


def _with_ranges(form: Affine, ranges: list[Range]) -> Affine:
    """``x // d -> 0`` and ``x % d -> x`` where ``0 <= x < d`` in the ranges of the loops."""
    result = Affine({}, form.constant)
    for key, (coefficient, each) in form.terms.items():
        part = Affine({key: (coefficient, each)})
        if isinstance(each, ast.BinOp) and isinstance(each.op, (ast.FloorDiv, ast.Mod)):
            divisor = query.integer(each.right)
            inner = affine.of(each.left)
            if (
                divisor is not None
                and divisor > 0
                and intervals.is_nonnegative(inner, ranges)
                and intervals.is_nonnegative(affine.constant(divisor - 1) - inner, ranges)
            ):
                whole = isinstance(each.op, ast.FloorDiv)
                part = affine.constant(0) if whole else inner * coefficient
        result = result + part
    return result


def _drop_guards(program: Program) -> None:
    """Remove the conditions of made guards that always hold, and guards left without any."""
    guards = [each for each in query.statements(program.function) if is_guard(each)]
    for guard in guards:
        assert isinstance(guard, ast.If)
        place = query.find_place(program.function, guard)
        if place is None:
            continue
        ranges = intervals.ranges_of(place.loops)
        context: Context | None = None
        kept: list[ast.expr] = []
        for condition in conditions(guard):
            if _holds(condition, ranges):
                continue
            context = context or Context.at(program, guard)
            if not context.implies(condition):
                kept.append(condition)
        if kept:
            guard.test = nodes.conjunction(kept)
        else:
            for comment in nodes.comments(guard):
                nodes.add_comment(guard.body[0], comment)
            place.block[place.index : place.index + 1] = guard.body


def _holds(condition: ast.expr, ranges: list[Range]) -> bool:
    if not isinstance(condition, ast.Compare) or len(condition.ops) != 1:
        return False
    left, right = affine.of(condition.left), affine.of(condition.comparators[0])
    match condition.ops[0]:
        case ast.Lt():
            gap = right - left - 1
        case ast.LtE():
            gap = right - left
        case ast.Gt():
            gap = left - right - 1
        case ast.GtE():
            gap = left - right
        case _:
            return False
    return intervals.is_nonnegative(gap, ranges)
