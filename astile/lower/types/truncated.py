"""Cells that cut each number that is joined to them, so that the order of the numbers shows.

A sum of floating-point numbers in a cell of integers is cut after each addition; the least of
wider integers in a cell of int8 wraps around when it is stored, and is compared as stored.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import numpy as np

from astile.analysis.proof import reductions
from astile.errors import LoweringError
from astile.ir import query
from astile.ir.program import Program
from astile.lower.types.kinds import Kinds
from astile.lower.types.promotion import PYTHON, family, is_integer


def truncating(kinds: Kinds) -> Iterator[tuple[ast.stmt, str]]:
    """The statements that join to a cell of integers what it may not hold, and what the cell does.

    Args:
        kinds: of the program, for the types of its arguments.
    """
    for statement in query.statements(kinds.program.function):
        form = reductions.form_of(statement)
        base = None if form is None else query.base_name(form.target)
        cell = kinds.arrays.get(base or "")
        if form is None or cell is None or not is_integer(cell):
            continue
        is_extreme = form.family in ("min", "max")
        found = [_kinds_of(kinds, each) for each in _values(statement)]
        if any(each is None or family(each) in "fc" for part in found for each in part):
            yield statement, "adds up floating-point numbers"
        elif is_extreme and not all(_holds(cell, each) for part in found for each in part):
            yield (
                statement,
                f"holds the {'least' if form.family == 'min' else 'largest'} of wider ones",
            )


def must_keep_order(program: Program, types: Mapping[str, str], target: str) -> bool:
    """Whether integers take numbers that are cut to fit them, each in its order.

    Args:
        program: the function as the user wrote it, of which a step changed the order of sums.
        types: parameter -> its type, see `Kinds`.
        target: where it is going to run.

    Raises:
        LoweringError: on a GPU, where the loops cannot run as they were written.
    """
    statement, what = next(truncating(Kinds(program, types)), (None, ""))
    if statement is not None and target in ("cuda", "emulate"):
        raise LoweringError(
            f"an integer {what}, and a step changed their order",
            code="lowering.types",
            span=program.source.span(statement),
            hints=["write int(...) around what is added, a wider cell, or use exact=True"],
        )
    return statement is not None


def _values(statement: ast.stmt) -> Iterator[ast.expr]:
    """What an update stores, or joins to the cell."""
    match statement:
        case ast.If(body=[inner]):
            yield from _values(inner)
        case ast.Assign(value=ast.Call(args=arguments)):
            yield from arguments
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            yield value


def _kinds_of(kinds: Kinds, value: ast.expr) -> frozenset[str | None]:
    found = kinds.choices.of(value)
    return frozenset([None]) if found is None else frozenset(found)


def _holds(cell: str, kind: str | None) -> bool:
    """Whether a cell holds all integers of a kind; Python's own do not fit without an error."""
    if kind is None:
        return False
    return kind in PYTHON or np.can_cast(np.dtype(kind), np.dtype(cell))
