"""Program to text: the only place that prints Python.

astor prints and wraps; what it cannot print, or prints as another program, `ast.unparse` prints.
"""

from __future__ import annotations

import ast
import sys
import textwrap
import warnings
from collections.abc import Sequence
from itertools import pairwise

from astile.errors import InternalError
from astile.ir import nodes, query, wrapping

with warnings.catch_warnings():  # astor 0.8.1 names ast.Num while it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor  # noqa: TID251

WIDTH = 100
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


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


def owners(text: str, body: Sequence[ast.stmt]) -> dict[int, ast.stmt]:
    """Line of a printed module -> the statement that it was printed from.

    A comment belongs to the statement below it; of a loop or condition, its head counts.

    Args:
        text: what `print_module` gave.
        body: what it was given.
    """
    lines = text.splitlines()
    made = query.statements(nodes.module_of(body))
    found: dict[int, ast.stmt] = {}
    for each, parsed in zip(made, query.statements(ast.parse(text)), strict=True):
        first = _first_line(parsed)
        while first > 1 and lines[first - 2].lstrip().startswith("#"):
            first -= 1
        found |= dict.fromkeys(range(first, (parsed.end_lineno or first) + 1), each)
    return found


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
    # it wants positions, which nodes made by rewrites have not
    return ast.unparse(ast.fix_missing_locations(module)) + "\n"  # noqa: TID251


def _reparsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _with_comments(text: str, module: ast.Module, reparsed: ast.Module) -> str:
    """Insert comments and blank lines, by walking both trees together."""
    lines = text.splitlines()
    above: dict[int, list[str]] = {}
    for made, parsed in zip(query.statements(module), query.statements(reparsed), strict=True):
        above[_first_line(parsed)] = _comment_lines(made, " " * parsed.col_offset)
    for function in reparsed.body:
        inside = function.body if isinstance(function, ast.FunctionDef) else []
        for first, second in pairwise(inside):
            if isinstance(first, (ast.For, ast.While)):
                above[_first_line(second)].insert(0, "")
    spaced: list[str] = []
    previous: ast.stmt | None = None
    for statement in reparsed.body:
        spaced += [""] * _blank_lines(previous, statement)
        for number in range(_first_line(statement), (statement.end_lineno or 0) + 1):
            spaced += [*above.get(number, ()), lines[number - 1]]
        previous = statement
    return "\n".join(spaced) + "\n"


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def _comment_lines(statement: ast.stmt, indent: str) -> list[str]:
    start = f"{indent}# "
    notes = [
        f"{key} = {list(value) if isinstance(value, tuple) else value!r}"
        for key, value in nodes.notes(statement).items()
    ]
    return [
        line
        for comment in (*nodes.comments(statement), *notes)
        for line in textwrap.wrap(comment, WIDTH, initial_indent=start, subsequent_indent=start)
    ]


def _blank_lines(previous: ast.stmt | None, statement: ast.stmt) -> int:
    """Blank lines between two statements of a module."""
    if previous is None:
        return 0
    if isinstance(previous, _DEFINITIONS) or isinstance(statement, _DEFINITIONS):
        return 2
    return int(section(previous) != section(statement))


def section(statement: ast.stmt) -> int:
    """Number of the section of a module that a statement belongs to; sections stand apart.

    They are the module's docstring, imports of the standard library, of other packages, of
    astile, and the rest.

    Args:
        statement: at the top level of a module.
    """
    if isinstance(statement, ast.Import):
        path = statement.names[0].name
    elif isinstance(statement, ast.ImportFrom):
        path = statement.module or ""
    else:
        return 0 if isinstance(statement, ast.Expr) else 4
    root = path.partition(".")[0]
    if root in sys.stdlib_module_names:
        return 1
    return 3 if root == "astile" else 2
