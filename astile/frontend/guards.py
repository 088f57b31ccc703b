"""Assumptions that a text has to check itself where it runs without astile."""

from __future__ import annotations

import ast
from dataclasses import replace

from astile.frontend import sums
from astile.frontend.spans import Assumed
from astile.frontend.sums import Linear
from astile.ir import nodes
from astile.ir.needs import Length, NotNegative, SameExtent
from astile.ir.program import Program


def guarded(program: Program, assumed: Assumed) -> Program:
    """A program that raises where an assumption fails that would change values unseen.

    A kernel looks at its needs before it runs anything, so that these never raise there; a printed
    module has only its text.

    Args:
        program: its tree is edited.
        assumed: what was assumed.

    After::

        def f(A, B):
            if A.shape[0] != B.shape[0]:
                raise ValueError("A[:] and B[:] have different lengths")
    """
    body = program.function.body
    made: list[ast.stmt] = []
    left = dict(assumed.guards)
    while left:
        need = next(iter(left))
        message = left.pop(need)
        opposite = _opposite(need)
        test = _fails(need)
        if opposite is not None and left.get(opposite) == message:
            del left[opposite]
            test.ops = [ast.NotEq()]
        made.append(nodes.if_then(test, [nodes.raise_error("ValueError", message)]))
    first = int(bool(body) and ast.get_docstring(program.function, clean=False) is not None)
    program.function.body = [*body[:first], *made, *body[first:]]
    return replace(program)


def _opposite(need: SameExtent | NotNegative) -> NotNegative | None:
    """What holds besides where a sum of lengths is 0."""
    if isinstance(need, SameExtent):
        return None
    return NotNegative(tuple((each, -factor) for each, factor in need.terms), -need.constant)


def _fails(need: SameExtent | NotNegative) -> ast.Compare:
    if isinstance(need, SameExtent):
        sides = [sums.expression(sums.symbol(_text(e))) for e in (need.first, need.second)]
        return nodes.compare(sides[0], ast.NotEq, sides[1])
    if all(factor < 0 for _, factor in need.terms):
        form = Linear({_text(length): -factor for length, factor in need.terms})
        return nodes.compare(sums.expression(form), ast.Gt, nodes.const(need.constant))
    form = Linear({_text(length): factor for length, factor in need.terms})
    return nodes.compare(sums.expression(form), ast.Lt, nodes.const(-need.constant))


def _text(length: Length) -> str:
    name, axis = length
    return name if axis is None else sums.extent_symbol(name, axis)
