"""Makes a rewritten program good to read: index arithmetic, guards that are always true.

Runs after every rewrite. What it changes is covered by the same proof as the rewrite.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.forms import affine, intervals
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.integers import integers_of, is_integer
from astile.analysis.forms.intervals import Range
from astile.analysis.reading.context import Contexts
from astile.analysis.reading.statements import stores
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.parts.joined import joined
from astile.rewrites.parts.result import conditions, is_guard


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
    walker = _Walker(integers_of(new), stores(new.function))
    new.function.body = walker.block(new.function.body, []) or [ast.Pass()]
    if walker.guards:
        dropper = _Guards(new, walker.guards)
        new.function.body = joined(dropper.block(new.function.body))
    return new


class _Walker:
    """Walks statements with the ranges of the loops around them."""

    def __init__(self, integers: set[str], stores: dict[int, frozenset[str]]) -> None:
        self.integers, self.stores = integers, stores
        #: guard -> the ranges of the loops around it
        self.guards: dict[int, list[Range]] = {}

    def block(self, body: Sequence[ast.stmt], ranges: list[Range]) -> list[ast.stmt]:
        """Simplified statements; loops and guards that hold nothing are left out."""
        result: list[ast.stmt] = []
        for statement in body:
            result += self.statement(statement, ranges)
        return result

    def statement(self, statement: ast.stmt, ranges: list[Range]) -> list[ast.stmt]:
        """One statement, or none."""
        if isinstance(statement, ast.For):
            statement.iter = _Indices(self.integers, ranges).header(statement)
            changed = frozenset().union(*(self.stores[id(each)] for each in statement.body))
            inner = intervals.inside(ranges, statement, changed)
            statement.body = self.block(statement.body, inner)
            statement.orelse = self.block(statement.orelse, [])
            return [statement] if statement.body else []
        if is_guard(statement):
            assert isinstance(statement, ast.If)
            return self._guard(statement, ranges)
        if query.bodies(statement):
            # names that a loop of unknown length changes hold nothing that is known
            kept = [e for e in ranges if not e.names & self.stores[id(statement)]]
            for body in query.bodies(statement):
                body[:] = self.block(body, kept) or body
            indices = _Indices(self.integers, kept)
            for name, value in ast.iter_fields(statement):
                if isinstance(value, ast.expr):
                    setattr(statement, name, indices.visit(value))
            return [statement]
        _Indices(self.integers, ranges).visit(statement)
        return [statement]

    def _guard(self, guard: ast.If, ranges: list[Range]) -> list[ast.stmt]:
        """A guard; one that holds nothing but another is joined with it, dead ones are left out."""
        tests = [_Indices(self.integers, ranges).condition(each) for each in conditions(guard)]
        if any(map(_never_holds, tests)):
            return []
        body = self.block(guard.body, ranges)
        inner = query.only_statement(body)
        above = nodes.comments(guard)
        if isinstance(inner, ast.If) and is_guard(inner):
            tests += conditions(inner)
            body = inner.body
            above += nodes.comments(inner)
        if not body:
            return []
        made = nodes.if_then(nodes.conjunction(tests), body)
        for comment in above:
            nodes.add_comment(made, comment)
        self.guards[id(made)] = ranges
        return [made]


#: Comparisons of integers that differ by 1: ``i < j + 1`` is ``i <= j``.
_WHOLE: dict[tuple[type[ast.cmpop], int], type[ast.cmpop]] = {
    (ast.Lt, 1): ast.LtE,
    (ast.LtE, -1): ast.Lt,
    (ast.Gt, -1): ast.GtE,
    (ast.GtE, 1): ast.Gt,
}


class _Indices(ast.NodeTransformer):
    """Rewrites index expressions in place where the normal form is shorter."""

    def __init__(self, integers: set[str], ranges: list[Range]) -> None:
        self.integers, self.ranges = integers, ranges

    def integer(self, expression: ast.expr) -> ast.expr:
        """The normal form of an integer expression, where it is one and that reads better."""
        if isinstance(expression, (ast.Name, ast.Constant)):
            return expression
        if not is_integer(expression, self.integers):
            return expression
        normal = with_ranges(affine.of(expression), self.ranges).expression()
        return normal if affine.cost(normal) < affine.cost(expression) else expression

    def header(self, loop: ast.For) -> ast.expr:
        """The iterator of a loop."""
        if query.header(loop) is None:
            visited = self.visit(loop.iter)
            assert isinstance(visited, ast.expr)
            return visited
        assert isinstance(loop.iter, ast.Call)
        loop.iter.args = [self.integer(self.visit(each)) for each in loop.iter.args]
        return loop.iter

    def condition(self, test: ast.expr) -> ast.expr:
        """A condition of a guard that a rewrite made."""
        if isinstance(test, ast.BoolOp):
            test.values = [self.condition(each) for each in test.values]
        elif isinstance(test, ast.Compare):
            test.left = self.integer(self.visit(test.left))
            test.comparators = [self.integer(self.visit(each)) for each in test.comparators]
            if len(test.comparators) == 1:
                return self._balanced(test)
        return test

    def _balanced(self, test: ast.Compare) -> ast.Compare:
        """Both sides less what they share and the constant of the longer one, where shorter."""
        left, right = test.left, test.comparators[0]
        if not is_integer(left, self.integers) or not is_integer(right, self.integers):
            return test
        one, other = affine.of(left), affine.of(right)
        gap = other.constant - one.constant
        operator = _WHOLE.get((type(test.ops[0]), gap), type(test.ops[0]))
        if operator is not type(test.ops[0]):  # i < j + 1
            one, other = one - one.constant, other - other.constant
        constant = one.constant if len(one.terms) >= len(other.terms) else other.constant
        common = _common(one, other) + constant
        written = [
            [each.expression() for each in sides]
            for sides in ((one - common, other - common), _without_minus(one, other))
        ]
        moved = min(written, key=lambda each: sum(map(affine.cost, each)))
        if sum(map(affine.cost, moved)) < affine.cost(left) + affine.cost(right):
            return nodes.compare(moved[0], operator, moved[1])
        return test

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._index(each) for each in node.slice.elts]
        else:
            node.slice = self._index(node.slice)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Integers that are used as values."""
        if query.names(node) and is_integer(node, self.integers):
            shorter = self.integer(node)
            nodes.set_origin(shorter, nodes.origin(node))
            return shorter
        return self.generic_visit(node)

    def _index(self, expression: ast.expr) -> ast.expr:
        visited = self.visit(expression)
        assert isinstance(visited, ast.expr)
        return visited if isinstance(visited, (ast.Slice, ast.Starred)) else self.integer(visited)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node  # its parameters may hide loop variables


def _common(one: Affine, other: Affine) -> Affine:
    """The terms that two sums share."""
    shared = {}
    for key, (coefficient, term) in one.terms.items():
        there = other.terms[key][0] if key in other.terms else 0
        if coefficient * there > 0:
            shared[key] = (min(coefficient, there, key=abs), term)
    return Affine(shared)


def _without_minus(one: Affine, other: Affine) -> tuple[Affine, Affine]:
    """Both sides with what is subtracted from one of them added to the other."""
    apart = one - other
    added = Affine({key: each for key, each in apart.terms.items() if each[0] > 0})
    return added, added - apart


def with_ranges(form: Affine, ranges: list[Range]) -> Affine:
    """``x // d -> 0``, ``x % d -> x``, ``max(x, 0) -> x`` where the ranges of loops say so."""
    result = Affine({}, form.constant)
    for key, (coefficient, each) in form.terms.items():
        part = _without_rim(each, ranges)
        result = result + (
            Affine({key: (coefficient, each)}) if part is None else part * coefficient
        )
    return result


def _without_rim(atom: ast.expr, ranges: list[Range]) -> Affine | None:
    """What a division, remainder, minimum or maximum is that changes nothing; None for others."""
    if isinstance(atom, ast.BinOp) and isinstance(atom.op, (ast.FloorDiv, ast.Mod)):
        return _divided(atom, ranges)
    word = intervals.extreme_word(atom)
    if word is None:
        return None
    assert isinstance(atom, ast.Call)
    sign = 1 if word == "max" else -1
    forms = [affine.of(each) for each in atom.args]
    for one in forms:
        if all(intervals.is_nonnegative((one - other) * sign, ranges) for other in forms):
            return one
    return None


def _divided(atom: ast.BinOp, ranges: list[Range]) -> Affine | None:
    """A quotient or remainder without what changes nothing in it; None where all does."""
    divisor, given = affine.of(atom.right), affine.of(atom.left)
    inner = with_ranges(given, ranges)
    is_quotient = isinstance(atom.op, ast.FloorDiv)
    if intervals.is_nonnegative(inner, ranges) and intervals.is_nonnegative(
        divisor - 1 - inner, ranges
    ):
        return affine.constant(0) if is_quotient else inner
    if inner == given or divisor.value is None or divisor.value <= 0:
        return None
    divide = affine.floor_div if is_quotient else affine.modulo
    return divide(inner, divisor.value)


# --- guards -------------------------------------------------------------------------------------


class _Guards:
    """Removes the conditions of made guards that always hold, and guards left without any.

    Args:
        program: the program, edited in place.
        ranges: guard -> the ranges of the loops around it.
    """

    def __init__(self, program: Program, ranges: dict[int, list[Range]]) -> None:
        self.program, self.ranges = program, ranges
        self.contexts: Contexts | None = None

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements with their guards in order."""
        result: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, ast.If) and id(statement) in self.ranges:
                result += self._guard(statement)
                continue
            for inner in query.bodies(statement):
                inner[:] = self.block(inner)
            result.append(statement)
        return result

    def _guard(self, guard: ast.If) -> list[ast.stmt]:
        kept = [e for e in conditions(guard) if not _holds(e, self.ranges[id(guard)])]
        if kept:
            self.contexts = self.contexts or Contexts(self.program)
            context = self.contexts.at(guard)
            for each in list(kept):
                others = [other for other in kept if other is not each]
                if context.implies(_given(others, each)):
                    kept = others
        body = self.block(guard.body)
        if kept:
            guard.test, guard.body = nodes.conjunction(_chained(kept)), body
            return [guard]
        for comment in nodes.comments(guard):
            nodes.add_comment(body[0], comment)
        return body


def _given(others: Sequence[ast.expr], condition: ast.expr) -> ast.expr:
    """``condition`` wherever `others` hold; for questions only, it shares nodes."""
    if not others:
        return condition
    return ast.BoolOp(ast.Or(), [ast.UnaryOp(ast.Not(), nodes.conjunction(others)), condition])


def _holds(condition: ast.expr, ranges: list[Range]) -> bool:
    gap = _gap(condition)
    return gap is not None and intervals.is_nonnegative(gap, ranges)


def _never_holds(condition: ast.expr) -> bool:
    """Whether a condition compares two numbers, and does not hold."""
    gap = _gap(condition)
    return gap is not None and gap.value is not None and gap.value < 0


def _gap(condition: ast.expr) -> Affine | None:
    """What is not negative where a comparison holds; None for other conditions."""
    if not isinstance(condition, ast.Compare) or len(condition.ops) != 1:
        return None
    left, right = affine.of(condition.left), affine.of(condition.comparators[0])
    match condition.ops[0]:
        case ast.Lt():
            return right - left - 1
        case ast.LtE():
            return right - left
        case ast.Gt():
            return left - right - 1
        case ast.GtE():
            return left - right
    return None


def _chained(tests: Sequence[ast.expr]) -> list[ast.expr]:
    """``a <= e`` and ``e < b`` become ``a <= e < b``."""
    result: list[ast.expr] = []
    for test in tests:
        for position, each in enumerate(result):
            chain = _chain(each, test) or _chain(test, each)
            if chain is not None:
                result[position] = chain
                break
        else:
            result.append(test)
    return result


def _chain(first: ast.expr, second: ast.expr) -> ast.expr | None:
    """One comparison for ``a <= e`` and ``e + 2 < b``, of the forms of `e` the shorter one."""
    if not isinstance(first, ast.Compare) or not isinstance(second, ast.Compare):
        return None
    operators = [*first.ops, *second.ops]
    if len(operators) != 2 or not all(isinstance(each, (ast.Lt, ast.LtE)) for each in operators):
        return None
    least, one = affine.of(first.left), affine.of(first.comparators[0])
    other, most = affine.of(second.left), affine.of(second.comparators[0])
    gap = (other - one).value
    if gap is None or not one.terms:
        return None
    shifted = [(least + gap, other, most), (least, one, most - gap)]
    written = [[each.expression() for each in sides] for sides in shifted]
    sides = min(written, key=lambda each: sum(map(affine.cost, each)))
    return nodes.comparison(sides, operators)
