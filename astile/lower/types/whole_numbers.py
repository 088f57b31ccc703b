"""Floating-point numbers where Python takes integers only: numba cuts them off, Python raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from astile.errors import LoweringError
from astile.ir import printer, query
from astile.ir.program import Program
from astile.lower.types.kinds import Kinds
from astile.lower.types.promotion import family


def check(program: Program, kinds: Kinds) -> None:
    """Refuse floating-point numbers as bounds of loops and slices, and as indices.

    Args:
        program: the program.
        kinds: of its names.

    Raises:
        LoweringError: naming the number.
    """
    for role, value in _integers(program):
        found = {kinds.of(value), *(kinds.choices.of(value) or ())}
        if kinds.is_array(value) or not any(each and family(each) in "fc" for each in found):
            continue
        text = printer.print_expression(value)
        whole = "write // for / in it" if isinstance(value, ast.BinOp) else f"write int({text})"
        raise LoweringError(
            f"the {role} {text} is a floating-point number, for which Python raises an error",
            code="lowering.types",
            span=program.source.span(value),
            hints=[f"{whole}, to leave its fraction out"],
        )


def _integers(program: Program) -> Iterator[tuple[str, ast.expr]]:
    """What has to be an integer, each with what it is."""
    for node in ast.walk(program.function):
        if isinstance(node, ast.For) and (counted := query.header(node)) is not None:
            ends = (counted.start, counted.stop, counted.step)
            yield from (("bound of a loop", each) for each in ends)
        elif isinstance(node, ast.Subscript) and not query.is_shape_of(node):
            own = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            for index in own:
                if isinstance(index, ast.Slice):
                    bounds = (index.lower, index.upper, index.step)
                    yield from (("bound of a slice", each) for each in bounds if each is not None)
                else:
                    yield "index", index
