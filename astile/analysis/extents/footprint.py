"""The box of cells that statements access, as a function of the loops around them.

A box only proposes what to compute or stage; the proof decides whether that was enough.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from astile.analysis.forms import affine, clamps, intervals
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.intervals import Range
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
    """One subscript of an array.

    Args:
        node: the subscript.
        inner: the ranges of the loops between the place looked from and the statement, and of
            the names that are given a value there: ``lo = max(i - 1, 0)``.
        is_read: whether its cells are read; those that ``+=`` changes are.
    """

    node: ast.Subscript
    inner: tuple[Range, ...]
    is_read: bool

    @property
    def is_written(self) -> bool:
        """Whether its cells are written."""
        return isinstance(self.node.ctx, ast.Store)


def accesses_inside(body: Iterable[ast.stmt], array: str) -> list[Access]:
    """The accesses of an array below some statements, with the loops between."""
    found: list[Access] = []

    def add(root: ast.AST, inner: tuple[Range, ...]) -> None:
        updated = root.target if isinstance(root, ast.AugAssign) else None
        for each in query.accesses(root, array):
            is_read = isinstance(each.ctx, ast.Load) or each is updated
            found.append(Access(each, inner, is_read))

    def search(block: Iterable[ast.stmt], inner: tuple[Range, ...]) -> None:
        for node in block:
            blocks = query.bodies(node)
            own = ast.iter_child_nodes(node) if blocks else (node,)
            for each in own:
                if not blocks or isinstance(each, (ast.expr, ast.withitem)):
                    add(each, inner)
            inside = inner
            if isinstance(node, ast.For):
                inside = tuple(intervals.inside(inner, node))
            elif isinstance(node, ast.While):
                inside = _without(inner, node)
            for inner_block in blocks:
                search(inner_block, inside)
            inner = _after(inner, node)

    search(body, ())
    return found


def _after(inner: tuple[Range, ...], statement: ast.stmt) -> tuple[Range, ...]:
    """What is known behind a statement."""
    written, kept = query.names_written(statement), _without(inner, statement)
    values = {each.variable: each.first for each in inner if each.first == each.last}
    given: tuple[str, Affine] | None = None
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            given = name, clamps.form(value)
        case ast.If():
            given = clamps.after(statement, values)
    if given is None or written & given[1].names() or any(map(_is_data, ast.walk(statement))):
        return kept
    return (*kept, Range(given[0], given[1], given[1]))


def _without(inner: tuple[Range, ...], statement: ast.stmt) -> tuple[Range, ...]:
    """What stays known whatever a statement changes."""
    written = query.names_written(statement)
    return tuple(each for each in inner if not each.names & written)


def _is_data(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and not isinstance(node.value, ast.Attribute)


def box(accesses: Sequence[Access], at_most: AtMost, hidden: set[str]) -> list[Side | None]:
    """A small box, side by side, around all accesses; None for a side that is not known.

    Where an index is clamped, as in ``x[max(i - 1, 0)]``, the side is the one of literal length.

    Args:
        accesses: accesses of one array; those axes count that all of them have.
        at_most: decides which of two forms is the smaller one.
        hidden: names that a side may not mention (variables assigned inside the place).
    """
    axes = min((len(query.indices(each.node)) for each in accesses), default=0)
    return [_side(accesses, axis, at_most, hidden) for axis in range(axes)]


def _side(accesses: Sequence[Access], axis: int, at_most: AtMost, hidden: set[str]) -> Side | None:
    lows: list[list[Affine]] = []
    highs: list[list[Affine]] = []
    for access in accesses:
        index = query.indices(access.node)[axis]
        if isinstance(index, (ast.Slice, ast.Starred)):
            return None
        form = clamps.form(index)
        low = intervals.lower_bounds(form, access.inner)
        high = intervals.upper_bounds(form, access.inner)
        lows.append(_visible([_settled(each, at_most) for each in low], hidden))
        highs.append(_visible([_settled(each, at_most) for each in high], hidden))
    firsts = _common(lows, at_most)
    lasts = _common(highs, lambda one, other: at_most(other, one))
    if not firsts or not lasts:
        return None
    sides = [Side(first, last) for first, last in product(firsts, lasts)]
    literal = [each for each in sides if each.extent.value is not None]
    if literal:
        return min(literal, key=lambda each: each.extent.constant)
    return min(sides, key=lambda each: len(each.extent.names()))


def _settled(form: Affine, at_most: AtMost) -> Affine:
    """A form in which ``max(i + 2, 0)`` is ``i + 2`` where `i` is never negative."""
    result = Affine({}, form.constant)
    for key, (coefficient, atom) in form.terms.items():
        part = Affine({key: (coefficient, atom)})
        word = intervals.extreme_word(atom)
        if word is not None and isinstance(atom, ast.Call):
            parts = [affine.of(each) for each in atom.args]
            if word == "max":
                best = [p for p in parts if all(p == o or at_most(o, p) for o in parts)]
            else:
                best = [p for p in parts if all(p == o or at_most(p, o) for o in parts)]
            part = best[0] * coefficient if best else part
        result = result + part
    return result


def _visible(bounds: Sequence[Affine], hidden: set[str]) -> list[Affine]:
    return [each for each in bounds if not each.names() & hidden]


def _common(bounds: Sequence[Sequence[Affine]], at_most: AtMost) -> list[Affine]:
    """The forms that bound every access, taken from the bounds of each of them."""
    every = dict.fromkeys(form for each in bounds for form in each)
    return [
        form
        for form in every
        if all(any(form == one or at_most(form, one) for one in each) for each in bounds)
    ]
