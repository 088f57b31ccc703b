"""The files of the project as the architecture tests see them: parsed, never imported."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "astile"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules(folder: Path = PACKAGE) -> list[Path]:
    """All Python files below a folder, in a fixed order."""
    return sorted(each for each in folder.rglob("*.py") if "__pycache__" not in each.parts)


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file; not to be changed."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def place(path: Path, node: ast.AST | int | None = None) -> str:
    """``astile/ir/nodes.py:12``, as editors and terminals make links of."""
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    line = getattr(node, "lineno", node)
    return name if line is None else f"{name}:{line}"


def functions(root: ast.AST) -> Iterator[Function]:
    """All functions in a tree, also those inside others."""
    for node in ast.walk(root):
        if isinstance(node, Function):
            yield node


def code_lines(function: Function) -> int:
    """Lines from `def` to the end, without those of the docstring."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        assert first.end_lineno is not None
        lines -= first.end_lineno - first.lineno + 1
    return lines
