"""``x.size`` of an array of one axis is its length: ``for i in range(x.size)``."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import replace

from astile.frontend import sums
from astile.frontend.arrays import Facts
from astile.ir import nodes, query
from astile.ir.needs import Rank
from astile.ir.program import Program


def counts(program: Program) -> Program:
    """Write how many cells an array of one axis has as the length of that axis.

    Args:
        program: is not changed.

    Before::

        def f(x, out):
            for i in range(x.size):
                out[i] = 2 * x[i]

    After::

        def f(x, out):
            for i in range(x.shape[0]):
                out[i] = 2 * x[i]
    """
    asked = {
        each.value.id
        for each in query.preorder(program.function)
        if isinstance(each, ast.Attribute) and _is_count(each) and isinstance(each.value, ast.Name)
    }
    if not asked:
        return program
    facts = Facts(program)
    arrays = {each for each in asked if facts.ranks.get(each) == 1}
    if not arrays:
        return program
    new = program.cloned()
    new.function.body = [_Lengths(arrays).visit(each) for each in new.function.body]
    needs = [Rank(each, 1) for each in sorted(arrays & facts.parameters)]
    return replace(new, needs=tuple(dict.fromkeys((*program.needs, *needs))))


def _is_count(node: ast.Attribute) -> bool:
    return node.attr == "size" and isinstance(node.ctx, ast.Load)


class _Lengths(ast.NodeTransformer):
    def __init__(self, arrays: Collection[str]) -> None:
        self.arrays = arrays

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if _is_count(node) and isinstance(node.value, ast.Name) and node.value.id in self.arrays:
            text = sums.extent_symbol(node.value.id, 0)
            return nodes.copy_place(node, sums.expression(sums.symbol(text)))
        return node
