"""Accesses inside one statement, with the conditions in the statement under which they happen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from astile.analysis.forms import affine_sets
from astile.analysis.forms.affine_sets import Scope
from astile.ir import query


@dataclass(frozen=True)
class Guarded:
    """One subscript of an array.

    Args:
        node: the subscript.
        formulas: static conditions that hold when it is evaluated.
        depends: whether it also depends on values that are not known before the run.
    """

    node: ast.Subscript
    formulas: tuple[str, ...]
    depends: bool


def accesses(statement: ast.stmt, scope: Scope) -> Iterator[Guarded]:
    """The subscripts of arrays in a statement, in textual order.

    Args:
        statement: a leaf statement.
        scope: what is known of names all through it.
    """
    yield from _Walker(scope).walk(statement, (), False)


class _Walker:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def walk(self, node: ast.AST, formulas: tuple[str, ...], depends: bool) -> Iterator[Guarded]:
        if isinstance(node, ast.Subscript) and query.base_name(node) is not None:
            yield Guarded(node, formulas, depends)
            for index in query.indices(node):
                yield from self.walk(index, formulas, depends)
        elif isinstance(node, (ast.If, ast.IfExp)):
            yield from self.walk(node.test, formulas, depends)
            known = affine_sets.formula(node.test, self.scope)
            then, other = _parts(node.body), _parts(node.orelse)
            for part, text in ((then, known), (other, known and f"(not {known})")):
                yield from self._each(part, formulas, text, depends)
        elif isinstance(node, ast.BoolOp):
            yield from self._short_circuit(node, formulas, depends)
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            yield from self._chain(node, formulas, depends)
        elif isinstance(node, (ast.For, ast.While, ast.Try)):
            yield from self._maybe(node, formulas, depends)
        else:
            for child in ast.iter_child_nodes(node):
                yield from self.walk(child, formulas, depends)

    def _each(
        self, parts: list[ast.AST], formulas: tuple[str, ...], text: str | None, depends: bool
    ) -> Iterator[Guarded]:
        inner = formulas if text is None else (*formulas, text)
        for part in parts:
            yield from self.walk(part, inner, depends or text is None)

    def _short_circuit(
        self, node: ast.BoolOp, formulas: tuple[str, ...], depends: bool
    ) -> Iterator[Guarded]:
        """In ``a and b`` b is looked at only when a holds, in ``a or b`` only when it fails."""
        for value in node.values:
            yield from self.walk(value, formulas, depends)
            known = affine_sets.formula(value, self.scope)
            if known is None:
                depends = True
            else:
                formulas = (*formulas, known if isinstance(node.op, ast.And) else f"(not {known})")

    def _chain(
        self, node: ast.Compare, formulas: tuple[str, ...], depends: bool
    ) -> Iterator[Guarded]:
        """In ``a < b < c`` c is looked at only when a < b."""
        yield from self.walk(node.left, formulas, depends)
        for position, each in enumerate(node.comparators):
            yield from self.walk(each, formulas, depends or position > 0)

    def _maybe(self, node: ast.AST, formulas: tuple[str, ...], depends: bool) -> Iterator[Guarded]:
        """A loop that may run no trip or be left, or a block that may be left."""
        for child in ast.iter_child_nodes(node):
            first = isinstance(node, ast.For) and child is node.iter
            first = first or (isinstance(node, ast.While) and child is node.test)
            yield from self.walk(child, formulas, depends or not first)


def _parts(body: ast.AST | list[ast.stmt]) -> list[ast.AST]:
    return list(body) if isinstance(body, list) else [body]
