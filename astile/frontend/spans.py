"""Slices as the loops that go over the same cells: first index, end, step."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from astile.frontend import sums
from astile.frontend.arrays import Facts
from astile.frontend.lengths import Lengths
from astile.frontend.sums import Linear
from astile.frontend.vocabulary import numpy_word
from astile.ir import nodes, query
from astile.ir.needs import Length, Need, NotNegative, SameExtent
from astile.ir.printer import print_expression


class Kept(Exception):  # noqa: N818 - says that a statement stays as it is, it is no error
    """A statement that is not rewritten.

    Args:
        reason: why.
    """


@dataclass(frozen=True)
class Span:
    """One axis of a slice, as a range.

    Args:
        start: the first index.
        stop: the end, which is not reached.
        step: what is added from one index to the next.
        extent: the length of the axis.
        clipped: the end as an expression, where it is the smaller of two.
    """

    start: Linear
    stop: Linear
    step: int
    extent: Linear
    clipped: ast.expr | None = None


@dataclass(frozen=True)
class Part:
    """Cells of an array: per axis one index, or a span.

    Args:
        array: the array.
        axes: outermost first.
        added: positions of axes that the part has and the array has not, of all axes of the part.
    """

    array: str
    axes: tuple[ast.expr | Span, ...]
    added: tuple[int, ...] = ()

    @property
    def spans(self) -> tuple[Span, ...]:
        """The axes that are gone along, outermost first."""
        return tuple(each for each in self.axes if isinstance(each, Span))

    @property
    def placed(self) -> tuple[Span | None, ...]:
        """The axes of the part, outermost first; None for one of a single index that was added."""
        spans: list[Span | None] = list(self.spans)
        for position in self.added:
            spans.insert(position, None)
        return tuple(spans)


@dataclass
class Assumed:
    """What is assumed while statements are rewritten.

    Args:
        needs: assumptions about the arguments of a call.
        guards: those among them whose failure nothing else would show where the text of the
            program runs by itself -> what is wrong then.
    """

    needs: dict[Need, None] = field(default_factory=dict)
    guards: dict[SameExtent | NotNegative, str] = field(default_factory=dict)

    def add(self, needs: Iterable[Need]) -> None:
        """Assume more."""
        self.needs.update(dict.fromkeys(needs))

    def guard(self, need: SameExtent | NotNegative, message: str) -> None:
        """Assume what the text has to make sure of; of two sums only the stronger is shown."""
        self.needs[need] = None
        for known in list(self.guards):
            if isinstance(known, NotNegative) and isinstance(need, NotNegative):
                if known.terms == need.terms and known.constant <= need.constant:
                    return
                if known.terms == need.terms:
                    del self.guards[known]
        self.guards.setdefault(need, message)

    def join(self, other: Assumed) -> None:
        """Assume all that another one does."""
        self.add(other.needs)
        for need, message in other.guards.items():
            self.guard(need, message)


class SpanReader:
    """Reads accesses at one place of a program.

    Args:
        facts: what the names of the program hold.
        known: what is known of integers at the place.
        assumed: is added to.
    """

    def __init__(self, facts: Facts, known: Lengths, assumed: Assumed) -> None:
        self.facts, self.known, self.assumed = facts, known, assumed
        self.shown = ""

    def part(self, access: ast.expr) -> Part | None:
        """The cells that an access names; None for what is no part of a known array.

        Raises:
            Kept: for an index that is neither a number nor a slice that can be read.
        """
        base = query.base_name(access)
        if base is None or base not in self.facts.ranks:
            return None
        given = query.indices(access) if isinstance(access, ast.Subscript) else []
        indices = [each for each in given if not self._adds_axis(each)]
        rank = self.facts.ranks[base]
        if len(indices) > rank or isinstance(getattr(access, "value", None), ast.Subscript):
            raise Kept("indices that are not one for each axis")
        self.shown = print_expression(access)
        whole = [ast.Slice() for _ in range(rank - len(indices))]
        axes = [self._axis(base, axis, each) for axis, each in enumerate([*indices, *whole])]
        shown = [each for each in given if self._adds_axis(each) or isinstance(each, ast.Slice)]
        added = tuple(k for k, each in enumerate(shown) if self._adds_axis(each))
        return Part(base, tuple(axes), added)

    def _adds_axis(self, index: ast.expr) -> bool:
        """Whether an index is ``None`` or ``np.newaxis``."""
        if isinstance(index, ast.Constant):
            return index.value is None
        return numpy_word(self.facts.program, index) == "newaxis"

    def _axis(self, array: str, axis: int, index: ast.expr) -> ast.expr | Span:
        if isinstance(index, ast.Slice):
            return self.span(array, axis, index)
        if not self.facts.is_number(index):
            raise Kept("an index that may be an array")
        return index

    def span(self, array: str, axis: int, index: ast.Slice) -> Span:
        """A slice of an axis of an array.

        Raises:
            Kept: where it is not known to start and end inside.
        """
        text = sums.extent_symbol(array, axis)
        extent = self.known.sizes.get(text, sums.symbol(text))
        step = 1 if index.step is None else query.integer(index.step)
        if step == -1 and index.lower is None and index.upper is None:
            last = extent.plus(sums.constant(-1))
            return Span(last, sums.constant(-1), -1, extent)
        if step is None or step < 1:
            raise Kept("a step that is no positive number")
        start = self.start(index.lower, extent)
        return self._stop(index.upper, start, step, extent)

    def start(self, lower: ast.expr | None, extent: Linear) -> Linear:
        """The first index of a slice.

        Args:
            lower: as it is written.
            extent: the length of the axis.

        Raises:
            Kept: where it is no sum, or may be negative.
        """
        form = sums.constant(0) if lower is None else self._form(lower)
        if form.value is not None and form.value < 0:
            form = extent.plus(form)
        self.require_not_negative(form, f"{self.shown} starts before the array")
        return form

    def _stop(self, upper: ast.expr | None, start: Linear, step: int, extent: Linear) -> Span:
        if upper is None:
            return Span(start, extent, step, extent)
        form = self._form(upper)
        if form.value is not None and form.value < 0:
            return Span(start, extent.plus(form), step, extent)
        beyond = extent.minus(form)
        if beyond.value is not None and beyond.value < 0:
            return Span(start, extent, step, extent)
        if not self._is_empty_below_zero(beyond, start):
            self.require_not_negative(form, f"{self.shown} ends before the array")
        if self.known.is_never_negative(beyond):
            return Span(start, form, step, extent)
        terms = self._terms(beyond)
        if terms is not None:  # an index past the end shows by itself
            self.assumed.add([NotNegative(terms, beyond.constant)])
            return Span(start, form, step, extent)
        end = sums.expression(extent, self.known.spelled)
        return Span(start, form, step, extent, nodes.call("min", [nodes.clone(upper), end]))

    def _form(self, bound: ast.expr) -> Linear:
        form = self.known.linear(bound)
        if form is None or not self.facts.is_number(bound):
            raise Kept("a bound that is no sum of integers")
        return form

    @staticmethod
    def _is_empty_below_zero(beyond: Linear, start: Linear) -> bool:
        """Whether ``A[s : n - c]`` is empty where ``n - c`` is negative, and counts from the end.

        It ends before ``2 * n - c`` then, which is at most ``c - 2`` since ``n < c``.
        """
        if beyond.value is None or start.value is None:
            return False
        return 0 <= beyond.value <= start.value + 2

    def count(self, span: Span) -> ast.expr:
        """How many indices a span of step 1 has."""
        form = span.stop.minus(span.start)
        if span.clipped is None and self.known.is_never_negative(form):
            return self._shown(form)
        end = self._shown(form) if span.clipped is None else nodes.clone(span.clipped)
        if span.clipped is not None and not span.start.is_zero():
            end = nodes.binary(end, ast.Sub, self._shown(span.start))
        return nodes.call("max", [end, nodes.const(0)])

    def _shown(self, form: Linear) -> ast.expr:
        """A sum, with the user's names of lengths."""
        return sums.expression(form, self.known.spelled)

    # --- assumptions ----------------------------------------------------------------------------

    def require_not_negative(self, form: Linear, otherwise: str) -> None:
        """Assume that a sum is at least 0, where that is not known.

        Args:
            form: the sum.
            otherwise: what is wrong where it is negative.

        Raises:
            Kept: where it cannot be assumed.
        """
        needs = self._needs_of(form)
        if needs is None:
            raise Kept("a bound that may be negative")
        for need in needs:
            self.assumed.guard(need, otherwise)

    def _needs_of(self, form: Linear) -> list[NotNegative] | None:
        """What has to hold of arguments for a sum to be at least 0; None where none is enough."""
        if self.known.is_never_negative(form):
            return []
        parts = self.known.alternatives(form)
        if parts is not None:
            found = [self._needs_of(each) for each in parts[0]]
            kept = [each for each in found if each is not None]
            if parts[1]:
                return None if len(kept) < len(found) else [need for e in kept for need in e]
            return kept[0] if kept else None
        least = self.known.least(form)
        terms = None if least is None else self._terms(least)
        if least is None or not terms:
            return None
        return [NotNegative(terms, least.constant)]

    def _terms(self, form: Linear) -> tuple[tuple[Length, int], ...] | None:
        found = []
        for text, factor in form.terms.items():
            length = self.length(text)
            if length is None:
                return None
            found.append((length, factor))
        return tuple(found)

    def length(self, text: str) -> Length | None:
        """A symbol as a length that is known when the kernel is called, or None."""
        array, _, rest = text.partition(".shape[")
        if array not in self.facts.parameters:
            return None
        if rest:
            return (array, int(rest[:-1])) if array in self.facts.ranks else None
        steady = array in self.facts.numbers and array not in self.facts.bindings
        return (array, None) if steady else None

    # --- indices that are looked at although no cell is stored ------------------------------------

    def require_inside(self, part: Part) -> None:
        """Assume that single indices are inside, also where a span is empty and no loop runs.

        Raises:
            Kept: where neither that can be assumed, nor that no span is empty.
        """
        single = [(axis, each) for axis, each in enumerate(part.axes) if not isinstance(each, Span)]
        if all(self.is_inside(part.array, axis, each) for axis, each in single):
            return
        for span in part.spans:
            ends = (span.stop, span.start) if span.step > 0 else (span.start, span.stop)
            last = ends[0].minus(ends[1]).plus(sums.constant(-1))
            if span.clipped is not None or not self.assume_not_negative(last):
                raise Kept("an index that may be outside where a slice is empty")

    def is_inside(self, array: str, axis: int, index: ast.expr) -> bool:
        """Whether an index is inside its array; what sizes decide is assumed."""
        form = self.known.linear(index)
        if form is None:
            return False
        text = sums.extent_symbol(array, axis)
        extent = self.known.sizes.get(text, sums.symbol(text))
        if form.value is not None and form.value < 0:
            return self.assume_not_negative(extent.plus(form))
        before_end = extent.minus(form).plus(sums.constant(-1))
        return self.assume_not_negative(form) and self.assume_not_negative(before_end)

    def assume_not_negative(self, form: Linear) -> bool:
        """Whether a sum is known or assumed to be at least 0."""
        needs = self._needs_of(form)
        if needs is not None:
            self.assumed.add(needs)
        return needs is not None

    # --- spans of one length --------------------------------------------------------------------

    def offset(self, span: Span, other: Span, shown: str) -> Linear:
        """What is added to an index of `span` to find the cell of `other` that belongs to it.

        Args:
            span: of what is stored.
            other: of what is read.
            shown: both as the user wrote them, for a message.

        Raises:
            Kept: when they cannot be shown or assumed to be equally long.
        """
        if span.clipped is None and other.clipped is not None:
            other = self._reaching(other)
        if span.clipped is not None or other.clipped is not None:
            ends = (span.clipped, other.clipped)
            same = span.stop == other.stop and None not in ends
            if not same or span.step != other.step or span.step < 1:
                raise Kept("slices that may be of different lengths")
            self._require_equal(span.extent.minus(other.extent), shown)
            if not span.start.minus(other.start).is_zero():
                raise Kept("slices that may be of different lengths")
            return sums.constant(0)
        if abs(span.step) != abs(other.step):
            raise Kept("slices with different steps")
        one, two = (
            each.stop.minus(each.start) if each.step > 0 else each.start.minus(each.stop)
            for each in (span, other)
        )
        self._require_equal(one.minus(two), shown)
        if span.step == other.step:
            return other.start.minus(span.start)
        return other.start.plus(span.start)

    def _reaching(self, span: Span) -> Span:
        """A slice that is assumed to end inside of its array, which shows where it does not."""
        if self.assume_not_negative(span.extent.minus(span.stop)):
            return replace(span, clipped=None)
        return span

    def _require_equal(self, difference: Linear, shown: str) -> None:
        if difference.is_zero():
            return
        factors = sorted(difference.terms.values())
        lengths_of = [self.length(each) for each in difference.terms]
        if not difference.constant and factors == [-1, 1] and None not in lengths_of:
            (first, second) = sorted((e for e in lengths_of if e is not None), key=str)
            self.assumed.guard(SameExtent(first, second), shown)
            return
        for form in (difference, sums.constant(0).minus(difference)):
            terms = self._terms(form)
            if not terms:
                raise Kept("slices that may be of different lengths")
            self.assumed.guard(NotNegative(terms, form.constant), shown)
