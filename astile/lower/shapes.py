"""Shapes of the arrays that a text declares itself: known as numbers when it is written."""

from __future__ import annotations

import ast

from astile.errors import LoweringError
from astile.ir import query
from astile.ir.program import Program
from astile.lower.facts import Facts


def literal(program: Program, statement: ast.stmt, facts: Facts) -> tuple[int, ...]:
    """The shape of a shared or local array as numbers.

    Raises:
        LoweringError: when an extent is not known before the text is compiled.
    """
    made = query.allocation(statement)
    assert made is not None
    numbers = [facts.number(each) for each in made.shape or ()]
    known = tuple(each for each in numbers if each is not None and each > 0)
    if not numbers or len(known) < len(numbers):
        raise LoweringError(
            f"the shape of {made.array} must be literal: {made.scope} memory is laid out when "
            "the kernel is compiled",
            code="lowering.not-literal",
            span=program.source.span(statement),
            hints=[f"tile by literal factors, or s.set_scope({made.array!r}, 'global')"],
        )
    return known
