"""One read or write of a statement, and all of them together."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from astile.analysis.forms.affine_sets import Quasi, Scope
from astile.ir import query


class NotModelled(Exception):  # noqa: N818 - says what is the case, it is no error by itself
    """Python whose meaning the model does not hold.

    Args:
        reason: what it is, in a few words.
        node: where it stands.
    """

    def __init__(self, reason: str, node: ast.AST) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node


@dataclass(frozen=True)
class Access:
    """One read or write.

    Args:
        slot: its name within the statement.
        array: name of the array or scalar, or one of the cells that stand for the outside.
        indices: one per axis; None stands for any index.
        node: the subscript or name, None for what the text does not show.
        sure: whether it happens whenever the statement runs.
    """

    slot: str
    array: str
    indices: tuple[Quasi | None, ...]
    node: ast.expr | None = None
    sure: bool = True

    @property
    def is_exact(self) -> bool:
        """Whether it touches exactly one cell, which is known."""
        return all(each is not None for each in self.indices)


@dataclass(frozen=True)
class Accesses:
    """All reads and writes of one leaf.

    Args:
        reads: in the order of the text; contents kept by a write that may not happen come last.
        writes: in order; each replaces what it covers.
        slots: node -> slot, for nodes that are reads or writes.
        acts: whether the outside world takes part: calls, exceptions.
        leaves: whether the function may be left here, which is not known before it runs.
        scope: what is known of names all through the statement.
    """

    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    slots: dict[int, tuple[str, ...]]
    acts: bool
    leaves: bool
    scope: Scope

    @property
    def is_exact(self) -> bool:
        """Whether every read and write is of known cells."""
        return all(each.is_exact for each in (*self.reads, *self.writes))


def check_order(targets: Sequence[ast.expr]) -> None:
    """``i, A[i] = ...`` finds its second place with the new ``i``, which the model does not."""
    flat = [
        each
        for target in targets
        for each in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
    ]
    written: set[str] = set()
    for each in flat:
        if isinstance(each, ast.Subscript):
            if any(query.names(index) & written for index in query.indices(each)):
                raise NotModelled("an index that the same statement changes", each)
            written |= {query.base_name(each) or ""}
        else:
            written |= query.names(each)
