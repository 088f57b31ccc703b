"""How many iterations at the ends of a loop have indices that are clamped or wrapped around."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import product

from astile.analysis.forms import affine, intervals
from astile.analysis.forms.intervals import Range
from astile.ir import query
from astile.ir.program import Program
from astile.rewrites.parts.simplify import with_ranges

#: The widest rim that is taken apart.
_WIDEST = 4


def of(program: Program, loop: ast.For) -> tuple[int, int] | None:
    """The fewest iterations to `peel` so that no index in the rest is clamped or wrapped.

    Args:
        program: the program.
        loop: one of its loops.

    Returns:
        How many first ones and how many last ones; None where there is nothing to gain.
    """
    place = query.find_place(program.function, loop)
    own = intervals.range_of(loop)
    if place is None or own is None:
        return None
    around = intervals.ranges_of(place.loops)
    if not _is_uneven(loop, [*around, own], own.variable):
        return None
    numbers = sorted(product(range(_WIDEST + 1), repeat=2), key=sum)
    for first, last in numbers[1:]:
        rest = Range(own.variable, own.first + first, own.last - last)
        if not _is_uneven(loop, [*around, rest], own.variable):
            return first, last
    return None


def _is_uneven(loop: ast.For, ranges: Sequence[Range], variable: str) -> bool:
    """Whether an index inside a loop has a remainder, minimum or maximum of its variable."""
    for index, known in _indices(loop.body, list(ranges)):
        if variable not in query.names(index):
            continue
        for _, atom in with_ranges(affine.of(index), known).terms.values():
            if not isinstance(atom, ast.Name) and variable in query.names(atom):
                return True
    return False


def _indices(
    body: Sequence[ast.stmt], ranges: list[Range]
) -> Iterator[tuple[ast.expr, list[Range]]]:
    """The indices below some statements, and the ranges of the loops around them."""
    for statement in body:
        inner = intervals.inside(ranges, statement) if isinstance(statement, ast.For) else ranges
        parts = query.bodies(statement)
        if not parts:
            for access in query.accesses(statement):
                yield from ((index, ranges) for index in query.indices(access))
            continue
        if not isinstance(statement, ast.For):
            for each in ast.iter_child_nodes(statement):
                if isinstance(each, ast.expr):
                    for access in query.accesses(each):
                        yield from ((index, ranges) for index in query.indices(access))
        for part in parts:
            yield from _indices(part, inner)
