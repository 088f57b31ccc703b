"""How often a loop runs, and the value of its variable in one of its trips."""

from __future__ import annotations

import ast

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.analysis.reading.context import Context
from astile.ir import nodes, query
from astile.ir.query import Header
from astile.rewrites.parts.result import Editor


def trip_count(header: Header) -> Affine:
    """How often a loop runs: the number of values of its range, or not above 0 for none."""
    step = query.integer(header.step)
    assert step
    start, stop = affine.of(header.start), affine.of(header.stop)
    distance = stop - start if step > 0 else start - stop
    count = affine.floor_div(distance + (abs(step) - 1), abs(step))
    return affine.constant(0) if count.value is not None and count.value < 0 else count


def trips_at_least_0(edit: Editor, loop: ast.For) -> Affine:
    """How often a loop runs, never below 0; for use before the loop or inside of it."""
    return at_least_0(edit, loop, trip_count(edit.counted(loop)))


def at_least_0(edit: Editor, statement: ast.stmt, number: Affine) -> Affine:
    """A number that is never below 0 where a statement stands: itself, or ``max(0, number)``."""
    if number.value is not None and number.value >= 0:
        return number
    if Context.at(edit.program, statement).nonnegative(number.expression()):
        return number
    return affine.of(nodes.call("max", [nodes.const(0), number.expression()]))


def value_at(header: Header, trip: Affine) -> ast.expr:
    """The loop variable's value in a trip counted from 0."""
    step = query.integer(header.step)
    assert step
    return (affine.of(header.start) + trip * step).expression()
