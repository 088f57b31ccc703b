"""Variables of loops on several cores, which numba counts in an unsigned type.

``-i`` of such a variable, and ``i - i * i``, would wrap around at zero. With a signed operand
beside it numba computes in signed integers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from astile.ir import nodes, query


def cast(loop: ast.For, int64: Callable[[], str]) -> None:
    """Cast the variable, and integers made of it, where numba would compute below zero, in place.

    Args:
        loop: whose variable is unsigned in numba.
        int64: gives the name of the type in the text, which is imported then.

    Before:
        for i in prange(n):
            y[i] = -i

    After:
        for i in prange(n):
            y[i] = -int64(i)
    """
    caster = _Caster(_unsigned(loop), int64)
    loop.body = [caster.visit(each) for each in loop.body]


def _unsigned(loop: ast.For) -> frozenset[str]:
    """The variable, and those of loops inside up to it."""
    found = query.names_written(loop.target)
    for each in query.loops(loop):
        if query.names(each.iter) & found:
            found |= query.names_written(each.target)
    return frozenset(found)


class _Caster(ast.NodeTransformer):
    """Edits values; indices stay unsigned, which is what they should be."""

    def __init__(self, unsigned: frozenset[str], int64: Callable[[], str]) -> None:
        self._unsigned, self._int64 = unsigned, int64

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Indices are left alone."""
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """A name: numba takes a copy of the variable for the variable, and allows no change."""
        self.generic_visit(node)
        if isinstance(node.targets[0], ast.Name):
            node.value = self._signed(node.value)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """A sign or a complement."""
        self.generic_visit(node)
        if isinstance(node.op, (ast.USub, ast.Invert)):
            node.operand = self._signed(node.operand)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """A difference, which is signed where one of its sides is, and a power."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Sub) and self._is_unsigned(node.right):
            node.left = self._signed(node.left)
        if isinstance(node.op, ast.Pow):
            node.right = self._signed(node.right)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """One of two numbers: numba makes float64 of a signed and an unsigned one."""
        self.generic_visit(node)
        node.body, node.orelse = self._signed(node.body), self._signed(node.orelse)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The same for arguments of `min`, `max` and functions of modules."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) or query.dotted(node.func) in ("min", "max"):
            node.args = [self._signed(each) for each in node.args]
        return node

    def _signed(self, value: ast.expr) -> ast.expr:
        if not self._is_unsigned(value):
            return value
        return nodes.call(self._int64(), [value])

    def _is_unsigned(self, value: ast.expr) -> bool:
        match value:
            case ast.Name(id=name):
                return name in self._unsigned
            case ast.BinOp(left=left, right=right) if not isinstance(value.op, ast.Div):
                return self._is_unsigned(left) and self._is_unsigned(right)
        return False
