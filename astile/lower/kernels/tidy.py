"""The last look at the statements of a kernel: what says nothing is left out.

Each part of a kernel writes the names it needs where it needs them, whatever its neighbours write.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from astile.ir import nodes, query


def tidied(body: Sequence[ast.stmt], cuda: str) -> list[ast.stmt]:
    """The statements without definitions that nothing reads or that repeat what a name holds.

    Conditions on the same names that follow each other become one.

    Args:
        body: the statements of a kernel; those inside of others are edited in place.
        cuda: the name of numba.cuda in the text.
    """
    kept = _Definitions(cuda, _read(body)).kept(body, {})
    return _joined(kept)


def _read(body: Sequence[ast.stmt]) -> set[str]:
    """All names that statements read, those among them that they update."""
    updated = {
        statement.target.id
        for each in body
        for statement in query.statements(each)
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name)
    }
    return updated.union(*map(query.names_read, body))


class _Definitions:
    """Keeps of ``name = uint32(cuda.threadIdx.x)`` what is read and tells something new.

    Args:
        cuda: the name of numba.cuda in the text.
        read: all names that the kernel reads.
    """

    def __init__(self, cuda: str, read: set[str]) -> None:
        self.cuda, self.read = cuda, read

    def kept(self, body: Sequence[ast.stmt], around: Mapping[str, ast.expr]) -> list[ast.stmt]:
        """The statements of a body.

        Args:
            body: they stand one after another.
            around: name -> the definition that holds where the body begins.
        """
        standing = dict(around)
        made: list[ast.stmt] = []
        for each in body:
            defined = self._defined(each)
            if defined is None:
                after = _without(standing, query.names_written(each))
                inside = standing if isinstance(each, ast.If) else after  # or in an iteration
                for part in query.bodies(each):
                    part[:] = self.kept(part, inside) or [ast.Pass()]
                standing = after
                made.append(each)
                continue
            name, value = defined
            if name in self.read and not nodes.same(standing.get(name), value):
                made.append(each)
                standing = {**_without(standing, {name}), name: value}
        return made

    def _defined(self, statement: ast.stmt) -> tuple[str, ast.expr] | None:
        """The name and the value of a definition made of indices of threads or blocks."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                words = {query.dotted(n) for n in ast.walk(value) if isinstance(n, ast.Attribute)}
                is_index = any((word or "").startswith(f"{self.cuda}.") for word in words)
                calls = [n for n in ast.walk(value) if isinstance(n, ast.Call)]
                plain = all(isinstance(c.func, ast.Name) for c in calls)  # casts only
                if is_index and plain and not nodes.comments(statement):
                    return name, value
        return None


def _without(standing: Mapping[str, ast.expr], written: set[str]) -> dict[str, ast.expr]:
    """The definitions that still hold where some names have other values."""
    return {
        name: value
        for name, value in standing.items()
        if name not in written and not query.names_read(value) & written
    }


def _joined(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements, with one condition for those that follow each other under the same."""
    made: list[ast.stmt] = []
    for each in body:
        last = made[-1] if made else None
        if isinstance(each, ast.If) and isinstance(last, ast.If) and _is_again(last, each):
            last.body += each.body
        else:
            made.append(each)
    for each in made:
        for part in query.bodies(each):
            part[:] = _joined(part)
    return made


def _is_again(first: ast.If, second: ast.If) -> bool:
    """Whether a condition asks what the one before it asked, and nothing between changes that."""
    if first.orelse or second.orelse or nodes.comments(second):
        return False
    if any(isinstance(node, (ast.Subscript, ast.NamedExpr)) for node in ast.walk(first.test)):
        return False
    changed = {name for each in first.body for name in query.names_written(each)}
    return nodes.same(first.test, second.test) and not query.names(first.test) & changed
