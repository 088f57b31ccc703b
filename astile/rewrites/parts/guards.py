"""What the conditions around accesses say about the cells that are accessed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from astile.analysis.extents.footprint import Access
from astile.analysis.forms import affine, intervals
from astile.analysis.forms.affine import Affine
from astile.ir import nodes, query
from astile.rewrites.parts.copies import Window
from astile.rewrites.parts.result import Editor, conditions

#: Comparisons ``left op right`` as ``sign * (right - left) >= slack``.
_ORDERS: dict[type[ast.cmpop], tuple[int, int]] = {
    ast.Lt: (1, 1),
    ast.LtE: (1, 0),
    ast.Gt: (-1, 1),
    ast.GtE: (-1, 0),
}


def around(
    edit: Editor, home: ast.For, moved: Window, accesses: Sequence[Access]
) -> list[ast.expr]:
    """Conditions that hold of every cell that is accessed inside a loop.

    ``if i_0 * 16 + i_1 < n - 2`` around ``a[i_0 * 16 + i_1 + 1]`` says that the cell is below
    ``n - 1``.

    Args:
        edit: the program that is edited.
        home: the loop.
        moved: the window of the cells that the conditions are wanted for.
        accesses: the accesses inside the loop that touch these cells.
    """
    hidden = {name for each in home.body for name in query.names_written(each)}
    found: list[ast.expr] = []
    tests = [dict(_gaps(edit, home, each)) for each in accesses]
    gaps = [list(each) for each in tests]
    outer = [[-gap for gap in each if not gap.names() & hidden] for each in gaps]
    for bound in _shared(outer, moved):
        found.append(next(nodes.clone(each[-bound]) for each in tests if -bound in each))
    for axis, index in enumerate(moved.cell):
        for sign in (-1, 1):
            every = [
                _bounds(each, gap, axis, sign, hidden)
                for each, gap in zip(accesses, gaps, strict=True)
            ]
            for bound in _shared(every, moved):
                found.append(_test(index, bound * sign, is_lower=sign > 0))
    return found


def _test(index: Affine, side: Affine, *, is_lower: bool) -> ast.expr:
    """``side <= index`` or ``index <= side``, with what is taken away added on the other side."""
    taken = Affine({k: v for k, v in side.terms.items() if v[0] < 0})
    left, right = -taken + index, side - taken
    if is_lower:
        return nodes.compare(right.expression(), ast.LtE, left.expression())
    return nodes.compare(left.expression(), ast.Lt, (right + 1).expression())


def _shared(every: Sequence[Sequence[Affine]], moved: Window) -> list[Affine]:
    """The lower bounds that hold for every access: it has one that is as strict."""
    candidates = dict.fromkeys(bound for bounds in every for bound in bounds)
    return [
        bound
        for bound in candidates
        if all(any(bound == own or moved.tile.at_most(bound, own) for own in b) for b in every)
    ]


def _bounds(
    access: Access, gaps: Sequence[Affine], axis: int, sign: int, hidden: set[str]
) -> list[Affine]:
    """Forms `b` with ``sign * index >= b`` by one of the conditions around an access."""
    index = affine.of(query.indices(access.node)[axis]) * sign
    found: list[Affine] = []
    moves = [each.variable for each in access.inner if index.coefficient(each.variable)]
    for gap in gaps:
        # gap >= 0, so index = k * gap + (index - k * gap) >= the least of (index - k * gap)
        for times in dict.fromkeys(_ratio(index, gap, each) for each in moves):
            if times:
                bound = intervals.lowest(index - gap * times, access.inner)
                if not bound.names() & hidden:
                    found.append(bound)
    return found


def _ratio(index: Affine, gap: Affine, variable: str) -> int:
    """How many times a gap has to be taken for a variable to be as often in it as in an index.

    0 where no positive number of times will do.
    """
    own, wanted = gap.coefficient(variable), index.coefficient(variable)
    return wanted // own if own and wanted % own == 0 and wanted // own > 0 else 0


def _gaps(edit: Editor, home: ast.For, access: Access) -> Iterator[tuple[Affine, ast.expr]]:
    """Forms that are never below 0 where an access is, by the conditions between, and these."""
    inside = next(
        (
            each
            for body in home.body
            for each in query.statements(body)
            if not query.bodies(each) and any(part is access.node for part in ast.walk(each))
        ),
        None,
    )
    if inside is None:
        return
    parents = edit.place(inside).parents
    start = next(k for k, each in enumerate(parents) if each is home)
    for parent, child in pairwise([*parents[start + 1 :], inside]):
        if isinstance(parent, ast.If) and any(child is each for each in parent.body):
            for test in conditions(parent):
                yield from _gap(test)


def _gap(test: ast.expr) -> Iterator[tuple[Affine, ast.expr]]:
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _ORDERS:
        sign, slack = _ORDERS[type(test.ops[0])]
        left, right = affine.of(test.left), affine.of(test.comparators[0])
        yield (right - left) * sign - slack, test
