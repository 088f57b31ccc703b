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
        LoweringError: when an extent is not known before the text is compiled, or is no length.
    """
    made = query.allocation(statement)
    assert made is not None
    numbers = [facts.number(each) for each in made.shape or ()]
    known = tuple(each for each in numbers if each is not None)
    if any(each < 1 for each in known):
        raise LoweringError(
            f"{made.array} has no cells: each axis of {made.scope} memory is at least 1 long",
            code="lowering.not-literal",
            span=program.source.span(statement),
            hints=["leave it out, or make it longer"],
        )
    if not numbers or len(known) < len(numbers):
        raise LoweringError(
            f"the shape of {made.array} must be literal: {made.scope} memory is laid out when "
            "the kernel is compiled",
            code="lowering.not-literal",
            span=program.source.span(statement),
            hints=[f"tile by literal factors, or s.set_scope({made.array!r}, 'global')"],
        )
    return known


def least_axes(program: Program) -> dict[str, int]:
    """Array -> how many axes it has at least, by its rank or by the indices that stand together.

    Args:
        program: any form of a kernel.
    """
    found = dict(program.ranks)
    for access in query.accesses(program.function):
        array, indices = query.base_name(access), query.indices(access)
        # x[None, i] and x[..., i] have more indices than axes, x[mask][i] indexes another array
        is_plain = not any(
            isinstance(each, (ast.Constant, ast.Attribute)) and query.integer(each) is None
            for each in indices
        )
        if array is not None and is_plain and not isinstance(access.value, ast.Subscript):
            found[array] = max(len(indices), found.get(array, 0))
    return found
