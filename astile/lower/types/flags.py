"""Truth values as indices, which NumPy takes for masks: ``a[x[i] > 0] += 1`` adds to all cells."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from astile.errors import LoweringError
from astile.ir import printer, query
from astile.ir.program import Program
from astile.lower import facts
from astile.lower.types.kinds import Kinds

_TRUTHS = ("bool", "bool_")


def check_indices(program: Program, kinds: Kinds) -> None:
    """Refuse indices that are single truth values: a GPU would take them for 0 and 1.

    Args:
        program: the program.
        kinds: of its names.

    Raises:
        LoweringError: naming the index.
    """
    for access, index in truths(program, kinds):
        _refuse(program, access, index)


def truths(program: Program, kinds: Kinds) -> Iterator[tuple[ast.Subscript, ast.expr]]:
    """Accesses and their indices that are single truth values.

    Args:
        program: the program.
        kinds: of its names.
    """
    for access in ast.walk(program.function):
        if not isinstance(access, ast.Subscript) or query.is_shape_of(access):
            continue
        own = access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]
        for index in own:
            if isinstance(index, ast.Slice) or kinds.is_array(index):
                continue
            found = kinds.choices.of(index) or {kinds.of(index)}
            if not found.isdisjoint(_TRUTHS):
                yield access, index


def may_be(program: Program) -> bool:
    """Whether the text leaves open that an index is a truth value.

    Args:
        program: the program.
    """
    known = facts.of(program)
    return any(
        not isinstance(index, ast.Slice) and not known.is_integer(index)
        for access in query.accesses(program.function)
        for index in query.indices(access)
    )


def _refuse(program: Program, access: ast.Subscript, index: ast.expr) -> None:
    text = printer.print_expression(index)
    raise LoweringError(
        f"the index {text} is a truth value: NumPy takes all cells for True and none for False",
        code="lowering.types",
        span=program.source.span(access),
        hints=[f"write int({text}) for the cells 0 and 1, or `if {text}:` in front"],
    )
