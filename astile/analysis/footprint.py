"""The box of cells that statements access, as a function of the loops around them.

A box only proposes what to compute or stage; the proof decides whether that was enough.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from astile.analysis import affine, intervals
from astile.analysis.affine import Affine
from astile.analysis.intervals import Range
from astile.ir import query

#: Whether the first form is proved to be at most the second.
AtMost = Callable[[Affine, Affine], bool]


@dataclass(frozen=True)
class Side:
    """The indices of one axis of a box: ``first <= index <= last``, both inclusive."""

    first: Affine
    last: Affine

    @property
    def extent(self) -> Affine:
        """How many indices the side has."""
        return self.last - self.first + 1


@dataclass(frozen=True)
class Access:
    """One subscript of an array and the ranges of the loops inside the place looked from."""

    node: ast.Subscript
    inner: tuple[Range, ...]


def accesses_inside(body: Iterable[ast.stmt], array: str) -> list[Access]:
    """The accesses of an array below some statements, with the loops between."""
    found: list[Access] = []

    def search(node: ast.AST, inner: tuple[Range, ...]) -> None:
        if isinstance(node, ast.For):
            own = intervals.range_of(node)
            found.extend(Access(each, inner) for each in query.accesses(node.iter, array))
            for statement in node.body:
                search(statement, inner if own is None else (*inner, own))
            return
        blocks = query.bodies(node)
        if not blocks:
            found.extend(Access(each, inner) for each in query.accesses(node, array))
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                found.extend(Access(each, inner) for each in query.accesses(child, array))
        for block in blocks:
            for statement in block:
                search(statement, inner)

    for statement in body:
        search(statement, ())
    return found


def box(accesses: Sequence[Access], at_most: AtMost, hidden: set[str]) -> list[Side | None]:
    """The smallest box, side by side, around all accesses; None for a side that is not known.

    Args:
        accesses: accesses of one array; all have the same number of indices.
        at_most: decides which of two forms is the smaller one.
        hidden: names that a side may not mention (variables assigned inside the place).
    """
    sides: list[Side | None] = []
    for axis in range(min(len(query.indices(each.node)) for each in accesses)):
        sides.append(_side(accesses, axis, at_most, hidden))
    return sides


def _side(accesses: Sequence[Access], axis: int, at_most: AtMost, hidden: set[str]) -> Side | None:
    first: Affine | None = None
    last: Affine | None = None
    for access in accesses:
        index = query.indices(access.node)[axis]
        if isinstance(index, (ast.Slice, ast.Starred)):
            return None
        form = affine.of(index)
        low = intervals.lowest(form, access.inner)
        high = intervals.highest(form, access.inner)
        if (low.names() | high.names()) & hidden:
            return None
        first = low if first is None else _least(first, low, at_most)
        last = high if last is None else _greatest(last, high, at_most)
        if first is None or last is None:
            return None
    assert first is not None
    assert last is not None
    return Side(first, last)


def _least(one: Affine, other: Affine, at_most: AtMost) -> Affine | None:
    if at_most(one, other):
        return one
    return other if at_most(other, one) else None


def _greatest(one: Affine, other: Affine, at_most: AtMost) -> Affine | None:
    if at_most(one, other):
        return other
    return one if at_most(other, one) else None
