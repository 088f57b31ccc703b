"""Indices that are never negative, said so where the compiler does not see it for itself.

An index of numba's may count from the end. LLVM leaves that out where a loop starts at 0 or 1; for
other loops each access keeps the choice, and none of them becomes vectors: such loops take five to
twenty times as long.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.ir import nodes, query
from astile.lower.facts import Facts
from astile.lower.indices import IndexWriter
from astile.lower.types import operators


def cast(body: Sequence[ast.stmt], facts: Facts, uint64: str) -> bool:
    """Cast the indices whose variables start elsewhere or go in other steps, in place.

    Args:
        body: the statements of a function.
        facts: its integer names.
        uint64: the name of the type in the text.

    Returns:
        Whether there were any.

    Before:
        for j in range(2, n):
            y[j] = x[j - 2]

    After:
        for j in range(2, n):
            y[uint64(j)] = x[uint64(j - 2)]
    """
    caster = _Caster(uint64)
    caster.block(body, IndexWriter(facts), frozenset())
    return caster.has_cast


class _Caster:
    """Edits statements."""

    def __init__(self, uint64: str) -> None:
        self._uint64 = uint64
        self.has_cast = False

    def block(self, body: Sequence[ast.stmt], writer: IndexWriter, unclear: frozenset[str]) -> None:
        """Statements, inside loops of which some have variables that the compiler does not see."""
        for statement in body:
            parts = query.bodies(statement)
            if not parts:
                self._accesses(statement, writer, unclear)
                continue
            inner, names = writer, unclear
            if isinstance(statement, ast.For):
                inner = operators.inside(writer, statement)
                names = unclear - query.names_written(statement.target)
                if _starts_elsewhere(statement):
                    names |= query.names_written(statement.target)
            elif isinstance(statement, ast.If):
                self._accesses(statement.test, writer, unclear)
                inner = writer.under(statement.test, statement.body)
            for part in parts:
                here = writer if part is getattr(statement, "orelse", None) else inner
                self.block(part, here, names)

    def _accesses(self, root: ast.AST, writer: IndexWriter, unclear: frozenset[str]) -> None:
        if not unclear:
            return
        for access in query.accesses(root):
            several = isinstance(access.slice, ast.Tuple)
            own = access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]
            made = [self._index(each, writer, unclear) for each in own]
            access.slice = nodes.tuple_of(made) if several else made[0]

    def _index(self, index: ast.expr, writer: IndexWriter, unclear: frozenset[str]) -> ast.expr:
        if isinstance(index, ast.Slice) or not query.names(index) & unclear:
            return index
        if not writer.facts.is_integer(index) or not writer.is_nonnegative(index):
            return index
        self.has_cast = True
        return nodes.call(self._uint64, [index])


def _starts_elsewhere(loop: ast.For) -> bool:
    header = query.header(loop)
    if header is None:
        return False
    return query.integer(header.start) not in (0, 1) or query.integer(header.step) != 1
