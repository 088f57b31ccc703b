"""Integers beyond 64 bits that the text computes, as in ``x[i] * 2 ** 64``, are written as numbers.

Python computes them exactly; machines would compute them in 64 bits, where ``2 ** 64`` is 0.
"""

from __future__ import annotations

import ast

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
    """

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
        whole = _value(node, values)
        if whole is not None and any(each not in _SIGNED for each in values):
            return nodes.copy_place(node, nodes.const(whole))
        self.generic_visit(node)
        return node


def _value(node: ast.expr, values: list[int]) -> int | None:
    """The integer that constants alone make; all on the way to it are added to a list."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int(found)):
            values.append(found)
            return found
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _value(operand, values)
            values += [] if inner is None else [-inner]
            return None if inner is None else -inner
        case ast.BinOp():
            left, right = _value(node.left, values), _value(node.right, values)
            if left is None or right is None or not _is_short(left, node.op, right):
                return None
            try:
                result = BINARY[type(node.op)](left, right)
            except (ArithmeticError, KeyError, TypeError, ValueError):
                return None
            if type(result) is not int:
                return None
            values.append(result)
            return result
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
