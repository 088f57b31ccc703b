"""Calls of Python's `pow`, `divmod` and `sum` of a tuple as the operators that they are.

numba has types of its own for the calls; those of operators are known, see `operators`. What numba
does not have is called by the other name that NumPy has for it.
"""

from __future__ import annotations

import ast

from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower.types.large_numbers import LargeNumbers


def spell(program: Program, *, has_views: bool = False) -> None:
    """Write calls of `pow`, `divmod` and `sum` as operators, and `np.fix` as `np.trunc`, in place.

    Integers of the text that 64 bits do not hold are written as numbers.

    Args:
        program: of its own, as `Program.cloned` gives one.
        has_views: whether ``x[:]`` stands for ``x.view()``, which numba does not have.

    Before::

        y[i] = pow(x[i], 2) + divmod(x[i], 3)[1] + sum((x[i], a))

    After::

        y[i] = x[i] ** 2 + x[i] % 3 + (0 + x[i] + a)
    """
    own = {*query.names_written(program.function), *query.parameters(program.function)}
    own |= {*program.imports, *program.helpers, *program.constants}
    modules = {name for name, path in program.imports.items() if path == "numpy"}
    speller = _Speller({"pow", "divmod", "sum"} - own, has_views, modules)
    numbers = LargeNumbers(program.constants)
    program.function.body = [numbers.visit(speller.visit(e)) for e in program.function.body]


class _Speller(ast.NodeTransformer):
    def __init__(self, words: set[str], has_views: bool, modules: set[str]) -> None:
        self.words, self.has_views, self.modules = words, has_views, modules

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if self.has_views and not node.args and not node.keywords:
            match node.func:
                case ast.Attribute(value=ast.Name(id=array), attr="view"):
                    whole = nodes.subscript(array, [ast.Slice()])
                    return nodes.copy_place(node, whole)
        match node.func:
            case ast.Attribute(value=ast.Name(id=module), attr="fix") if module in self.modules:
                node.func = nodes.copy_place(node.func, nodes.attribute(module, "trunc"))
        word = node.func.id if isinstance(node.func, ast.Name) else ""
        if word not in self.words or node.keywords:
            return node
        if word == "sum":
            return self._sum(node)
        if len(node.args) != 2:
            return node
        if word == "pow":
            return nodes.copy_place(node, nodes.binary(node.args[0], ast.Pow, node.args[1]))
        parts: list[ast.expr] = []
        for operator in (ast.FloorDiv, ast.Mod):
            left, right = map(nodes.clone, node.args)
            parts.append(nodes.copy_place(node, nodes.binary(left, operator, right)))
        return nodes.copy_place(node, nodes.tuple_of(parts))

    @staticmethod
    def _sum(node: ast.Call) -> ast.expr:
        if len(node.args) != 1 or not isinstance(node.args[0], ast.Tuple):
            return node
        whole: ast.expr = nodes.const(0)
        for each in node.args[0].elts:
            whole = nodes.copy_place(node, nodes.binary(whole, ast.Add, each))
        return whole

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        was_call = isinstance(node.value, ast.Call)
        self.generic_visit(node)
        position = query.integer(node.slice)
        if was_call and isinstance(node.value, ast.Tuple) and position in (0, 1):
            return node.value.elts[position]
        return node
