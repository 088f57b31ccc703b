"""Indices that are never negative, said so where the compiler does not see it for itself.

An index of numba's may count from the end. LLVM leaves that out where a loop starts at 0 or 1; for
other loops each access keeps the choice, and none of them becomes vectors: such loops take five to
twenty times as long. So do loops inside of one on several cores, which starts at what each core is
given, where both variables make an index.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from astile.ir import nodes, query
from astile.lower.facts import Facts
from astile.lower.indices import IndexWriter
from astile.lower.types import operators

#: Kinds of loops that may run on several cores.
ON_CORES = ("parallel", "block.")


def cast(body: Sequence[ast.stmt], facts: Facts, uint64: Callable[[], str]) -> None:
    """Cast the indices whose variables start elsewhere or go in other steps, in place.

    Those of loops on several cores count as such where the innermost loop is in the index too.

    Args:
        body: the statements of a function, with the words of a program for its loops.
        facts: its integer names.
        uint64: gives the name of the type in the text, which is imported then.

    Before:
        for j in range(2, n):
            y[j] = x[j - 2]

    After:
        for j in range(2, n):
            y[uint64(j)] = x[uint64(j - 2)]
    """
    caster = _Caster(uint64)
    caster.block(body, IndexWriter(facts), _Around())


@dataclass(frozen=True)
class _Around:
    """The loops around a statement.

    Args:
        unclear: variables that may start below 0 for all that the compiler sees.
        on_cores: variables of loops that may run on several cores.
        innermost: variables of the innermost loop.
    """

    unclear: frozenset[str] = frozenset()
    on_cores: frozenset[str] = frozenset()
    innermost: frozenset[str] = frozenset()

    def inside(self, loop: ast.For) -> _Around:
        """What holds in the body of a loop."""
        own = frozenset(query.names_written(loop.target))
        header = query.header(loop)
        unclear, on_cores = self.unclear - own, self.on_cores - own
        if header is None:
            return _Around(unclear, on_cores, own)
        if query.integer(header.start) not in (0, 1) or query.integer(header.step) != 1:
            return _Around(unclear | own, on_cores, own)
        if header.kind.startswith(ON_CORES):
            on_cores |= own
        return _Around(unclear, on_cores, own)

    def is_unclear(self, index: ast.expr) -> bool:
        """Whether the compiler does not see that an index is not negative."""
        names = query.names(index)
        if names & self.unclear:
            return True
        # a variable by itself is unsigned, and what does not change is looked at once
        return bool(names & self.on_cores and names & self.innermost) and not isinstance(
            index, ast.Name
        )


class _Caster:
    """Edits statements."""

    def __init__(self, uint64: Callable[[], str]) -> None:
        self._uint64 = uint64

    def block(self, body: Sequence[ast.stmt], writer: IndexWriter, around: _Around) -> None:
        """Statements, inside loops of which some have variables that the compiler does not see."""
        for statement in body:
            parts = query.bodies(statement)
            if not parts:
                self._accesses(statement, writer, around)
                continue
            inner, loops = writer, around
            if isinstance(statement, ast.For):
                inner, loops = operators.inside(writer, statement), around.inside(statement)
            elif isinstance(statement, ast.If):
                self._accesses(statement.test, writer, around)
                inner = writer.under(statement.test, statement.body)
            for part in parts:
                here = writer if part is getattr(statement, "orelse", None) else inner
                self.block(part, here, loops)

    def _accesses(self, root: ast.AST, writer: IndexWriter, around: _Around) -> None:
        if not around.unclear and not around.on_cores:
            return
        for access in query.accesses(root):
            several = isinstance(access.slice, ast.Tuple)
            own = access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]
            made = [self._index(each, writer, around) for each in own]
            access.slice = nodes.tuple_of(made) if several else made[0]

    def _index(self, index: ast.expr, writer: IndexWriter, around: _Around) -> ast.expr:
        if isinstance(index, ast.Slice) or not around.is_unclear(index):
            return index
        if not writer.facts.is_integer(index):
            return index
        if not _is_nonnegative(index, writer):
            return index
        return nodes.call(self._uint64(), [index])


def _is_nonnegative(expression: ast.expr, writer: IndexWriter) -> bool:
    """Whether an integer is never negative, or its parts are not: products among them."""
    if writer.is_nonnegative(expression):
        return True
    match expression:
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return _is_nonnegative(left, writer) and _is_nonnegative(right, writer)
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):
            return _is_nonnegative(left, writer) and (query.integer(right) or 0) > 0
    return False
