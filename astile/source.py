"""Where text came from: files, and spans inside them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SourceFile:
    """Text of one function or module, with its place in the user's file.

    Args:
        name: path of the file, or a name such as ``<cell>`` for text without one.
        text: the text as written, not dedented.
        first_line: line number in the file of the first line of `text` (from 1).
    """

    name: str
    text: str = field(repr=False)
    first_line: int = 1

    def line(self, number: int) -> str | None:
        """The text of line `number` of the file, or None where it is not known."""
        lines = self.text.splitlines()
        index = number - self.first_line
        return lines[index] if 0 <= index < len(lines) else None

    def span(self, node: ast.AST) -> Span | None:
        """The span of a node whose positions are those of the user's file.

        Nodes that astile made have no position; their span is None.
        """
        line = getattr(node, "lineno", None)
        if not isinstance(line, int) or line < 1:
            return None
        column = int(getattr(node, "col_offset", 0)) + 1
        end_line = int(getattr(node, "end_lineno", None) or line)
        end_column = int(getattr(node, "end_col_offset", None) or column) + 1
        return Span(self, line, column, end_line, end_column)


@dataclass(frozen=True)
class Span:
    """A piece of a source file; lines and columns count from 1, the end is exclusive."""

    file: SourceFile
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file.name}:{self.line}:{self.column}"
