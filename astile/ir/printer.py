"""Program to text: the only place that prints Python.

astor prints and wraps; what it cannot print, or prints as another program, `ast.unparse` prints.
"""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Sequence

from astile.errors import InternalError
from astile.ir import nodes, query, wrapping

with warnings.catch_warnings():  # astor 0.8.1 names ast.Num while it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor  # noqa: TID251

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
    for print_tree in (_astor_text, _plain_text):
        text = print_tree(module)
        if text is None:
            continue
        for candidate in (wrapping.wrap(text, WIDTH), text):
            reparsed = _reparsed(candidate)
            if reparsed is not None and nodes.same(reparsed, module):
                return _with_comments(candidate, module, reparsed)
    raise InternalError("printed text does not parse to the program it was printed from")


def _astor_text(module: ast.Module) -> str | None:
    try:
        text: str = astor.to_source(
            module, indent_with="    ", pretty_string=_string, pretty_source="".join
        )
    except (AttributeError, TypeError, ValueError, RecursionError):
        return None
    return text


def _string(value: str, embedded: int, line: str, unicode_literals: bool = False) -> str:
    """A string literal in double quotes; one that begins its line, a docstring, in three."""
    plain = repr(value)
    if not line.strip() and "\r" not in value:
        fancy = '"""' + value.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + '"""'
        return fancy if _literal(fancy) == value else plain
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in plain else plain


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None


def _plain_text(module: ast.Module) -> str:
    return ast.unparse(module) + "\n"  # noqa: TID251


def _reparsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _with_comments(text: str, module: ast.Module, reparsed: ast.Module) -> str:
    """Insert comments and the blank lines after loop nests, by walking both trees together."""
    lines = text.splitlines()
    above: dict[int, list[str]] = {}
    for made, parsed in zip(query.statements(module), query.statements(reparsed), strict=True):
        indent = " " * parsed.col_offset
        above[parsed.lineno - 1] = [
            line
            for each in nodes.comments(made)
            for line in textwrap.wrap(
                each, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# "
            )
        ]
    for function in reparsed.body:
        for first, second in zip(_body(function), _body(function)[1:], strict=False):
            if isinstance(first, (ast.For, ast.While)):
                above[second.lineno - 1].insert(0, "")
    for line in sorted(above, reverse=True):
        lines[line:line] = above[line]
    return "\n".join(lines) + "\n"


def _body(statement: ast.stmt) -> list[ast.stmt]:
    return statement.body if isinstance(statement, ast.FunctionDef) else []
