"""Calls of Python's `pow`, `divmod` and `sum` of a tuple as the operators that they are.

numba has types of its own for the calls; those of operators are known, see `operators`. What numba
does not have is called by the other name that NumPy has for it, and numbers that the text spells as
strings, which numba does not read, are written as numbers.
"""

from __future__ import annotations

import ast
import math
from dataclasses import replace

from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower.types.large_numbers import LargeNumbers


def spell(program: Program, *, has_views: bool = False) -> Program:
    """Write calls of `pow`, `divmod` and `sum` as operators, and `np.fix` as `np.trunc`.

    Integers of the text that 64 bits do not hold are written as numbers.

    Args:
        program: of its own, as `Program.cloned` gives one; its function is edited.
        has_views: whether ``x[:]`` stands for ``x.view()``, which numba does not have.

    Before::

        best = float("-inf")
        y[i] = pow(x[i], 2) + divmod(x[i], 3)[1] + sum((x[i], a)) - ord("a")

    After::

        best = -inf
        y[i] = x[i] ** 2 + x[i] % 3 + (0 + x[i] + a) - 97
    """
    own = {*query.names_written(program.function), *query.parameters(program.function)}
    own |= {*program.imports, *program.helpers, *program.constants}
    modules = {name for name, path in program.imports.items() if path == "numpy"}
    speller = _Speller({"pow", "divmod", "sum"} - own, has_views, modules)
    strings = _Strings(program, {"float", "ord"} - own)
    numbers = LargeNumbers(program.constants)
    program.function.body = [
        numbers.visit(speller.visit(strings.visit(each))) for each in program.function.body
    ]
    return replace(program, imports={**program.imports, **strings.imports})


class _Strings(ast.NodeTransformer):
    """``float("1e30")`` -> ``1e30``, ``float("inf")`` -> ``inf`` of `math`, ``ord("a")`` -> ``97``.

    What is no number raises an error in Python, and stays as it is.
    """

    def __init__(self, program: Program, words: set[str]) -> None:
        self._program, self._words = program, words
        self.imports: dict[str, str] = {}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Name(id=word), args=[ast.Constant(value=str() as text)], keywords=[]
            ) if word in self._words:
                made = self._number(word, text)
                return node if made is None else nodes.copy_place(node, made)
        return node

    def _number(self, word: str, text: str) -> ast.expr | None:
        try:
            value = ord(text) if word == "ord" else float(text)
        except (TypeError, ValueError):
            return None
        if math.isfinite(value):
            return nodes.const(value)
        known = nodes.name(self._imported("nan" if math.isnan(value) else "inf"))
        is_negative = math.copysign(1.0, value) < 0
        return ast.UnaryOp(ast.USub(), known) if is_negative else known

    def _imported(self, word: str) -> str:
        """The name in the text for infinity or NaN."""
        known = {**self._program.imports, **self.imports}
        for name, path in known.items():
            if path in (f"math.{word}", f"numpy.{word}"):
                return name
        name = self._program.fresh_name(word, set(self.imports))
        self.imports[name] = f"math.{word}"
        return name


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
