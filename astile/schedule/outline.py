"""The loops of a program and the stages inside them, as an outline."""

from __future__ import annotations

import ast

from astile.ir import query
from astile.ir.printer import print_expression
from astile.ir.program import Program


def outline(program: Program) -> str:
    """One line for each loop, and each statement that writes an array or, in a loop, a scalar.

    Args:
        program: the program.
    """
    lines = [program.name]

    def walk(body: list[ast.stmt], depth: int) -> None:
        for statement in body:
            indent = "    " * depth
            if isinstance(statement, ast.For):
                target = print_expression(statement.target)
                lines.append(f"{indent}for {target} in {print_expression(statement.iter)}:")
                walk(statement.body, depth + 1)
            elif isinstance(statement, ast.If):
                lines.append(f"{indent}if {print_expression(statement.test)}:")
                walk(statement.body, depth + 1)
                if statement.orelse:
                    lines.append(f"{indent}else:")
                    walk(statement.orelse, depth + 1)
            elif written := query.written_arrays(statement) or _scalars(statement, depth):
                lines.append(f"{indent}{', '.join(written)} = ...")

    walk(program.function.body, 1)
    return "\n".join(lines)


def _scalars(statement: ast.stmt, depth: int) -> list[str]:
    """The scalars that a statement in a loop sets."""
    return sorted(query.names_written(statement)) if depth > 1 else []
