"""Program to text: the only place that prints Python.

astor prints and wraps; what it cannot print, or prints as another program, `ast.unparse` prints.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from astile.errors import InternalError
from astile.ir import nodes, query

with warnings.catch_warnings():  # astor 0.8.1 names ast.Num while it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor  # noqa: TID251
    from astor.source_repr import split_lines  # noqa: TID251

WIDTH = 100


def print_expression(expression: ast.expr) -> str:
    """The text of one expression on one line."""
    return ast.unparse(expression)  # noqa: TID251


def print_statement(statement: ast.stmt) -> str:
    """The text of one statement, with the statements inside it."""
    return _print(nodes.module_of([nodes.clone(statement)])).strip("\n")


def print_module(body: Sequence[ast.stmt]) -> str:
    """The text of a module; comments attached to statements stand above them.

    Raises:
        InternalError: when no printer gives a text that parses to the same tree.
    """
    return _print(nodes.module_of(body))


def _print(module: ast.Module) -> str:
    module = nodes.clone(module)  # astor writes on nodes; a clone shares none
    for candidate in (_astor_text, _plain_text):
        text = candidate(module)
        if text is None:
            continue
        try:
            reparsed = ast.parse(text)
        except SyntaxError:
            continue
        if nodes.same(reparsed, module):
            return _with_comments(text, module, reparsed)
    raise InternalError("printed text does not parse to the program it was printed from")


def _astor_text(module: ast.Module) -> str | None:
    try:
        text: str = astor.to_source(
            module, indent_with="    ", pretty_source=lambda parts: _wrapped(parts)
        )
    except (AttributeError, TypeError, ValueError, RecursionError):
        return None
    return text


def _wrapped(parts: list[str]) -> str:
    return "".join(split_lines(parts, maxline=WIDTH))


def _plain_text(module: ast.Module) -> str:
    return ast.unparse(module) + "\n"  # noqa: TID251


def _with_comments(text: str, module: ast.Module, reparsed: ast.Module) -> str:
    """Insert the comments of statements, found by walking both trees side by side."""
    lines = text.splitlines()
    insertions: list[tuple[int, str]] = []
    for made, parsed in zip(query.statements(module), query.statements(reparsed), strict=True):
        indent = " " * parsed.col_offset
        insertions += [(parsed.lineno - 1, f"{indent}# {each}") for each in nodes.comments(made)]
    for line, comment in reversed(insertions):
        lines.insert(line, comment)
    return "\n".join(lines) + "\n"
