"""Integers beyond 64 bits that the text computes, as in ``x[i] * 2 ** 64``, are written as numbers.

Python computes them exactly; machines would compute them in 64 bits, where ``2 ** 64`` is 0. So are
those that a name from outside of the function stands for, which numba does not take.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from astile.ir import nodes
from astile.ir.operators import BINARY
from astile.lower.types.promotion import Kind, family

#: What 64 bits with a sign hold.
_SIGNED = range(-(1 << 63), 1 << 63)
#: Powers and shifts of more bits are left as they are.
_MOST_BITS = 4096


class LargeNumbers(ast.NodeTransformer):
    """Writes integers that the text alone decides as numbers, where 64 bits do not hold them.

    Those within 64 bits stay as they are written, and so does what Python raises an error for.

    Args:
        constants: name -> what it stands for in the whole function.
    """

    def __init__(self, constants: Mapping[str, object]) -> None:
        whole = {name: each for name, each in constants.items() if type(each) is int}
        self._whole: Mapping[str, int] = whole

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name, or the number that it stands for."""
        return self._written(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """An operator, or the number that it makes of constants."""
        return self._written(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """A sign, or the number that it makes of constants."""
        if isinstance(node.operand, ast.Constant):
            return node
        return self._written(node)

    def _written(self, node: ast.expr) -> ast.AST:
        values: list[int] = []
        whole = self._value(node, values)
        if whole is not None and any(each not in _SIGNED for each in values):
            return nodes.copy_place(node, nodes.const(whole))
        self.generic_visit(node)
        return node

    def _value(self, node: ast.expr, values: list[int]) -> int | None:
        """The integer that constants alone make; all on the way to it are added to a list."""
        found: object = None
        match node:
            case ast.Constant(value=value):
                found = value
            case ast.Name(id=name):
                found = self._whole.get(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self._value(operand, values)
                found = None if inner is None else -inner
            case ast.BinOp(left=left, op=operator, right=right):
                found = _result(operator, self._value(left, values), self._value(right, values))
        if type(found) is not int:
            return None
        values.append(found)
        return found


def _result(operator: ast.operator, left: int | None, right: int | None) -> object:
    """What an operator makes of two integers, where Python makes something of them."""
    if left is None or right is None or not _is_short(left, operator, right):
        return None
    try:
        return BINARY[type(operator)](left, right)
    except (ArithmeticError, KeyError, TypeError, ValueError):
        return None


def _is_short(left: int, op: ast.operator, right: int) -> bool:
    if isinstance(op, ast.Pow):
        return 0 <= right <= _MOST_BITS and left.bit_length() * right <= _MOST_BITS
    return not isinstance(op, ast.LShift) or 0 <= right <= _MOST_BITS


def as_real(kind: Kind, value: ast.expr) -> ast.expr:
    """A large integer of the text that becomes a real number, as one; numba holds none.

    Args:
        kind: what it becomes.
        value: any value of the text.
    """
    match value:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = as_real(kind, operand)
            return value if inner is operand else ast.UnaryOp(ast.USub(), inner)
        case ast.Constant(value=int(number)) if (
            number not in _SIGNED and kind is not None and family(kind) in ("f", "c")
        ):
            try:
                return nodes.copy_place(value, nodes.const(float(number)))
            except OverflowError:
                return value
    return value
