"""Words of loops whose iterations are numbered anew: as concurrent as they were, or more."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.ir import query

#: Loop words whose iterations run one after the other.
IN_ORDER = ("range", "unroll", *query.MATRIX_WORDS)
_AXES = "xyz"


class Kinds:
    """The words of loops in their other form: as concurrent as they were, or more.

    Args:
        function: the function.
    """

    def __init__(self, function: ast.FunctionDef) -> None:
        self._used = {h.kind for each in query.loops(function) if (h := query.header(each))}
        self._beside = {kind for each in function.body for kind in _kinds_beside(each)}

    def joined(self, kinds: Sequence[str], innermost: ast.For) -> str | None:
        """The word of one loop for nested ones, None where there is none."""
        bound = [each for each in kinds if _is_bound(each)]
        if not bound:
            return "range" if all(each in IN_ORDER for each in kinds) else "parallel"
        if len({each[:-1] for each in kinds}) == 1:  # all of them blocks, or all threads
            return None if self._beside & set(kinds) else kinds[0]
        made = [e for e in query.statements(innermost) if query.allocation(e) is not None]
        if made or self._beside:  # it would matter who shares the array, and who waits
            return None
        blocks = [each for each in bound if each.startswith("block.")]
        return blocks[0] if blocks else self._free("block.")

    def parted(self, kind: str) -> tuple[str, str] | None:
        """The words of two loops for one, None where there are none."""
        if not _is_bound(kind):
            return ("range", "range") if kind in IN_ORDER else ("parallel", "parallel")
        other = None if kind in self._beside else self._free(kind[:-1])
        return None if other is None else (kind, other)

    def _free(self, prefix: str) -> str | None:
        for axis in _AXES:
            if prefix + axis not in self._used:
                self._used.add(prefix + axis)
                return prefix + axis
        return None


def _is_bound(kind: str) -> bool:
    return kind.startswith(("block.", "thread."))


def _kinds_beside(statement: ast.stmt) -> set[str]:
    """The blocks and threads of which only a part of a kernel's statements depends."""
    bound = {
        id(each): header.kind
        for each in query.loops(statement)
        if (header := query.header(each)) is not None and _is_bound(header.kind)
    }
    inner = next((each for each in query.loops(statement) if id(each) in bound), None)
    only: ast.stmt | None = inner
    while isinstance(only, ast.For):
        bound.pop(id(only), None)
        only = query.only_statement(only.body)
    return set(bound.values())
