"""Whether parts of one array may have cells in common, and which of two is met first."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.frontend import sums
from astile.frontend.lengths import Lengths
from astile.frontend.spans import Part, Span
from astile.frontend.sums import Linear


def first_reads(known: Lengths, written: Part, read: Part, order: Sequence[Span]) -> bool:
    """Whether a loop over the cells of `written` reads each cell of `read` before it is stored.

    Args:
        known: what is known of integers.
        written: where the value is stored.
        read: what the value is computed from, of the same array.
        order: the spans of `written`, outermost first; those of `read` belong to the last ones.
    """
    if are_apart(known, written, read):
        return True
    spans = read.spans
    if read.added:
        return False
    if len(spans) != len(order) or any(each.step != 1 for each in (*spans, *order)):
        return written.axes == read.axes or _same_cells(written, read)
    distances = []
    for own, other in zip(written.axes, read.axes, strict=True):
        if isinstance(own, Span) and isinstance(other, Span):
            if own.clipped is not None or other.clipped is not None:
                if own.start != other.start:
                    return False
                distances.append(sums.constant(0))
            else:
                distances.append(other.start.minus(own.start))
        elif isinstance(own, Span) or isinstance(other, Span):
            return False
    for distance in distances:
        if not distance.is_zero():
            # the cell that is read is stored in a later iteration
            return known.is_never_negative(distance.plus(sums.constant(-1)))
    return True


def _same_cells(written: Part, read: Part) -> bool:
    """Whether each iteration reads the cells that it stores, and no others."""
    return all(
        isinstance(own, Span) == isinstance(other, Span)
        and (not isinstance(own, Span) or own == other)
        for own, other in zip(written.axes, read.axes, strict=True)
    )


def are_apart(known: Lengths, first: Part, second: Part) -> bool:
    """Whether two parts of one array have no cell in common."""
    return any(
        _apart_along(known, one, other) for one, other in zip(first.axes, second.axes, strict=True)
    )


def _apart_along(known: Lengths, one: ast.expr | Span, other: ast.expr | Span) -> bool:
    low_one, high_one = _ends(known, one)
    low_other, high_other = _ends(known, other)
    return _is_below(known, high_one, low_other) or _is_below(known, high_other, low_one)


def _is_below(known: Lengths, high: Linear | None, low: Linear | None) -> bool:
    if high is None or low is None:
        return False
    return known.is_never_negative(low.minus(high).plus(sums.constant(-1)))


def _ends(known: Lengths, axis: ast.expr | Span) -> tuple[Linear | None, Linear | None]:
    """The least and greatest index along an axis, counted from the start; None: not known."""
    if not isinstance(axis, Span):
        form = known.linear(axis)
        if form is None or not known.is_never_negative(form):
            return None, None
        return form, form
    if axis.step < 0:
        return sums.constant(0), axis.start
    return axis.start, axis.stop.plus(sums.constant(-1))
