"""Bounds of slices that are the least or greatest of several numbers get a name."""

from __future__ import annotations

import ast

from astile.frontend.arrays import Facts
from astile.frontend.new_names import NewNames
from astile.frontend.vocabulary import path_of
from astile.ir import nodes, query
from astile.ir.program import Program

_SIMPLE = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)


def bounds(program: Program) -> Program:
    """Compute what `min` and `max` give as bounds of slices in front of the statement.

    Args:
        program: is not changed.

    Before::

        def f(x, out, r):
            for i in range(len(x)):
                out[i] = x[max(i - r, 0) : i + r + 1].sum()

    After::

        def f(x, out, r):
            for i in range(len(x)):
                start = max(i - r, 0)
                out[i] = x[start : i + r + 1].sum()
    """
    if not any(
        isinstance(each, ast.Slice) and any(isinstance(e, ast.Call) for e in ast.walk(each))
        for each in query.preorder(program.function)
    ):
        return program
    new = program.cloned()
    namer = _Namer(new)
    new.function.body = namer.block(new.function.body)
    return new if namer.has_changed else program


class _Namer(ast.NodeTransformer):
    def __init__(self, program: Program) -> None:
        self.facts, self.names = Facts(program), NewNames(program)
        self.has_changed = False
        self.before: list[ast.stmt] = []
        self.wanted = ""

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a block, each after the names of its bounds."""
        done: list[ast.stmt] = []
        for statement in body:
            for inner in query.bodies(statement):
                inner[:] = self.block(inner)
            self.before = []
            if isinstance(statement, _SIMPLE):
                self.generic_visit(statement)
            elif isinstance(statement, ast.For):
                statement.iter = self.visit(statement.iter)
            elif isinstance(statement, ast.If):
                statement.test = self.visit(statement.test)
            self.has_changed |= bool(self.before)
            done += [nodes.copy_place(statement, each) for each in self.before]
            done.append(statement)
        return done

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return node  # not all of it is computed

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if query.base_name(node) not in self.facts.ranks:
            self.generic_visit(node)
            return node
        for index in query.indices(node):
            if isinstance(index, ast.Slice):
                index.lower = self._bound(index.lower, "start")
                index.upper = self._bound(index.upper, "stop")
        return node

    def _bound(self, bound: ast.expr | None, wanted: str) -> ast.expr | None:
        if bound is None:
            return None
        match bound:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                made_left, made_right = self._bound(left, wanted), self._bound(right, wanted)
                assert made_left is not None
                assert made_right is not None
                bound.left, bound.right = made_left, made_right
            case ast.Call(func=function, args=parts, keywords=[]) if (
                path_of(self.facts.program, function) in ("min", "max")
                and len(parts) > 1
                and all(map(self._is_sum, parts))
            ):
                name = self.names.fresh(wanted)
                self.before.append(nodes.assign(name, bound))
                return nodes.name(name)
        return bound

    def _is_sum(self, value: ast.expr) -> bool:
        """Whether a value can be computed earlier: a sum of names and lengths."""
        return self.facts.is_number(value) and not any(
            isinstance(node, (ast.Call, ast.Subscript, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow))
            and not self._is_length(node)
            for node in ast.walk(value)
        )

    def _is_length(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=function, args=[ast.Name()], keywords=[]):
                return path_of(self.facts.program, function) == "len"
            case ast.Subscript():
                return query.is_shape_of(node)
        return False
