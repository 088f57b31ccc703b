"""Where an expression of a vector loop stands: its vector, its mask, what is known of integers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from astile.analysis.forms.affine import Affine
from astile.ir import nodes
from astile.lower import bounds
from astile.lower.indices import IndexWriter
from astile.lower.vectors.registers import Strip


class DoesNotFitError(Exception):
    """A statement that has no form in vectors; its loop stays as it is."""


@dataclass(frozen=True)
class Lanes:
    """One vector of a loop.

    Args:
        variable: of the loop.
        base: its value in the first lane.
        count: of lanes.
        writer: what is known of integers; the range of the variable is that of the whole loop.
        vectors: name that differs from lane to lane -> the name of its vector.
        first: value of the variable in the first iteration of the loop.
        mask: the lanes that run; None for all of them.
        whole: the mask of all statements of the loop: no lane beyond it is ever used.
        is_entered: whether the first iteration of the loop certainly runs, if any code of the
            loop does: then what is the same in all lanes is computed by the plain loop as well.
        is_loose: whether other lanes may be given any value.
    """

    variable: str
    base: Affine
    count: int
    writer: IndexWriter
    vectors: Mapping[str, str]
    first: Affine
    mask: ast.expr | None = None
    whole: ast.expr | None = None
    is_entered: bool = True
    is_loose: bool = False

    def where(self, mask: ast.expr, *, is_entered: bool = False) -> Lanes:
        """The same where a condition holds as well.

        Args:
            mask: the condition.
            is_entered: whether it holds in the first iteration of the loop.
        """
        if self.mask is not None:
            mask = nodes.binary(nodes.clone(self.mask), ast.BitAnd, mask)
        return replace(self, mask=mask, is_entered=self.is_entered and is_entered)

    @property
    def strip(self) -> Strip:
        """The cells of registers are those of this one vector."""
        return Strip(self.variable, (self.base,), self.count)


class Places:
    """What is known of the integers of a program, expression by expression.

    A tree that is not changed in the meantime has each of its expressions at one place only.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[ast.expr, bool]] = {}  # holds them, so that ids stay theirs

    def is_nonnegative(self, index: ast.expr, writer: IndexWriter) -> bool:
        """Whether an index is proved ``>= 0`` where it stands."""
        return self._kept(index, lambda: writer.is_nonnegative(index))

    def is_entered(self, test: ast.expr, lanes: Lanes) -> bool:
        """Whether a condition certainly holds in the first iteration of the vector loop."""
        return self._kept(test, lambda: _is_entered(test, lanes))

    def _kept(self, key: ast.expr, answer: Callable[[], bool]) -> bool:
        found = self._known.get(id(key))
        if found is None:
            found = self._known[id(key)] = (key, answer())
        return found[1]


def _is_entered(test: ast.expr, lanes: Lanes) -> bool:
    for each in bounds.conjuncts(test):
        form = bounds.nonnegative_form(each, lanes.writer.facts)
        if form is None or not form.names().isdisjoint(lanes.vectors):
            return False
        first = form.substituted({lanes.variable: lanes.first})
        if not lanes.writer.is_nonnegative(first.expression()):
            return False
    return True
