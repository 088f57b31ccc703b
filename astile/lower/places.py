"""The user's places of lines of generated text."""

from __future__ import annotations

import ast

from astile.ir import query
from astile.ir.program import Program
from astile.lower.lowered import Lowered
from astile.source import Span


def place_of(statement: ast.stmt, program: Program, lowered: Lowered) -> Span | None:
    """The user's place of a lowered statement; of a guard or loop without, that of its body.

    Args:
        statement: of the body of `lowered`.
        program: what was lowered.
        lowered: the text.
    """
    home = next((each for each in lowered.body if _holds(each, statement)), None)
    source = program.source
    if isinstance(home, ast.FunctionDef) and home.name in program.helper_programs:
        source = program.helper_programs[home.name].source
    parts = [statement] if isinstance(statement, ast.FunctionDef) else query.statements(statement)
    for each in parts:
        span = source.span(each)
        if span is not None and source.line(span.line) is not None:
            return span
    return None


def place_of_line(line: int, program: Program, lowered: Lowered) -> Span | None:
    """The user's place of a line of generated text.

    Args:
        line: from 1.
        program: what was lowered.
        lowered: the text.
    """
    statement = lowered.statements.get(line)
    return None if statement is None else place_of(statement, program, lowered)


def _holds(outer: ast.stmt, statement: ast.stmt) -> bool:
    return any(each is statement for each in query.statements(outer))
