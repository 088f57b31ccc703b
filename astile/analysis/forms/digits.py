"""Digits of numbers of mixed radix: what they are called in other forms of statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.integers import is_integer
from astile.ir import nodes, query
from astile.ir.nodes import Origin


def is_mixed(node: ast.AST, variables: set[str]) -> TypeGuard[ast.BinOp]:
    """Whether a loop variable is scaled, or taken apart, by what is no literal."""
    if not isinstance(node, ast.BinOp) or not isinstance(
        node.op, (ast.Mult, ast.FloorDiv, ast.Mod)
    ):
        return False
    left, right = _plain_names(node.left), _plain_names(node.right)
    if left is None or right is None or not right or (not left and isinstance(node.op, ast.Mult)):
        return False
    return bool((left | right) & variables)


def _plain_names(expression: ast.expr) -> set[str] | None:
    """The names that integer arithmetic is made of, None where it is something else."""
    match expression:
        case ast.Constant(value=value):
            return set() if type(value) is int else None
        case ast.Name(id=name):
            return {name}
        case ast.UnaryOp(operand=operand):
            return _plain_names(operand)
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.Call(func=ast.Name(id="min" | "max"), args=parts, keywords=[]):
            pass
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=array), attr="shape")):
            return {array}
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=array)], keywords=[]):
            return {array}
        case _:
            return None
    found = [_plain_names(each) for each in parts]
    return None if None in found else set().union(*(each for each in found if each is not None))


def is_spelled(loop: ast.For) -> bool:
    """Whether an iteration of the original is spelled with the loop's variable as a digit.

    Of a function that scales a variable by a size itself, all forms leave that as it is.
    """
    header = query.header(loop)
    held = [nodes.origin(each) for each in query.statements(loop)]
    return header is not None and any(
        is_mixed(node, {header.variable})
        for each in held
        if each is not None
        for value in each.iteration
        for node in ast.walk(value)
    )


class _Rewriter(ast.NodeTransformer):
    """Rewrites expressions in copies of statements, and in what they stand for."""

    def rewritten(self, statement: ast.stmt) -> ast.stmt:
        """A copy of a statement."""
        made = self.visit(nodes.clone(statement))
        assert isinstance(made, ast.stmt)
        return made

    def visit(self, node: ast.AST) -> ast.AST:
        made: ast.AST = super().visit(node)
        held = nodes.origin(node) if isinstance(node, (ast.stmt, ast.expr)) else None
        if held is not None:
            assert isinstance(made, (ast.stmt, ast.expr))
            values = tuple(self.expression(nodes.clone(each)) for each in held.iteration)
            nodes.set_origin(made, Origin(held.statement, values))
        return made

    def expression(self, expression: ast.expr) -> ast.expr:
        """An expression of its own, rewritten."""
        made = super().visit(expression)
        assert isinstance(made, ast.expr)
        return made


class Numbers(_Rewriter):
    """Replaces a number that is spelled by its digits.

    Args:
        integers: names of integers.
        number: the number in its digits.
        digits: their names, the one that counts once last.
        variable: what the number is called.
    """

    def __init__(
        self, integers: set[str], number: Affine, digits: Sequence[str], variable: str
    ) -> None:
        self._integers, self._number = integers, number
        self._digits, self._unit, self._variable = set(digits), digits[-1], variable

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Integers in terms of the number's digits."""
        if self._unit in query.names(node) and is_integer(node, self._integers):
            form = affine.of(node)
            times = form.coefficient(self._unit)
            rest = form - self._number * times
            if times and not rest.names() & self._digits:
                made = (rest + affine.variable(self._variable) * times).expression()
                return nodes.copy_place(node, made)
        return self.generic_visit(node)


class Digits(_Rewriter):
    """Replaces the quotient and the remainder of a number.

    Args:
        variable: the number.
        divisor: what it is divided by; positive where the statements run.
        high: name of the quotient.
        low: name of the remainder.
        is_size: whether an integer is never negative.
    """

    def __init__(
        self,
        variable: str,
        divisor: ast.expr,
        high: str,
        low: str,
        is_size: Callable[[ast.expr], bool],
    ) -> None:
        self._variable, self._divisor = affine.variable(variable), divisor
        self._high, self._low, self._is_size = high, low, is_size

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Quotients and remainders of the number."""
        made: ast.expr | None = None
        if affine.of(node.left) == self._variable:
            if isinstance(node.op, ast.FloorDiv):
                made = self._quotient(node.right)
            elif isinstance(node.op, ast.Mod) and self._is_divisor(node.right):
                made = nodes.name(self._low)
        return self.generic_visit(node) if made is None else nodes.copy_place(node, made)

    def _is_divisor(self, expression: ast.expr) -> bool:
        return affine.of(expression) == affine.of(self._divisor)

    def _quotient(self, divisor: ast.expr) -> ast.expr | None:
        """The quotient by the divisor, or by a multiple: ``f // (w * c)`` is ``f // c // w``."""
        if self._is_divisor(divisor):
            return nodes.name(self._high)
        rest = without(factors(affine.of(divisor)), self._divisor)
        if rest is None or rest.is_sure:
            return None
        multiple = [each.expression() for each in rest.factors]
        if not all(self._is_size(each) for each in multiple):
            return None
        made: ast.expr = nodes.name(self._high)
        for each in multiple:
            made = nodes.binary(made, ast.FloorDiv, each)
        return made


def divisors(loop: ast.For, variable: str) -> list[ast.expr]:
    """What a variable is divided by, without repetition."""
    found: dict[Affine, ast.expr] = {}
    whole = affine.variable(variable)
    for node in query.preorder(loop):
        match node:
            case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod(), right=right):
                if affine.of(left) == whole:
                    found.setdefault(affine.of(right), right)
    return list(found.values())


def factors(form: Affine) -> list[Affine]:
    """What a number is the product of."""
    if form.value is not None:
        return [] if form.value == 1 else [form]
    if form.constant or len(form.terms) != 1:
        return [form]
    [(coefficient, atom)] = form.terms.values()
    found = [] if coefficient == 1 else [affine.constant(coefficient)]
    if isinstance(atom, ast.BinOp) and isinstance(atom.op, ast.Mult):
        return [*found, *factors(affine.of(atom.left)), *factors(affine.of(atom.right))]
    return [*found, Affine({key: (1, each) for key, (_, each) in form.terms.items()})]


@dataclass(frozen=True)
class Rest:
    """What is left of a product without one of its factors.

    Args:
        factors: the others.
        is_sure: whether the product is 0 where the factor is negative.
    """

    factors: tuple[Affine, ...]
    is_sure: bool


def without(product: Sequence[Affine], divisor: ast.expr) -> Rest | None:
    """A product without a factor, which may be a product itself; None where it is none."""
    rest = list(product)
    form = affine.of(divisor)
    sure = affine.of(nodes.call("max", [nodes.const(0), divisor]))
    if sure in rest:
        rest.remove(sure)
        return Rest(tuple(rest), is_sure=True)
    for each in factors(form):
        if each not in rest:
            return None
        rest.remove(each)
    return Rest(tuple(rest), is_sure=False)
