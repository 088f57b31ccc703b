"""Where text came from: files, and spans inside them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property

_LINE_END = re.compile(r"\r\n|\r|\n")


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

    @cached_property
    def _lines(self) -> list[str]:
        return _LINE_END.split(self.text)

    def line(self, number: int) -> str | None:
        """The text of line `number` of the file, or None where it is not known."""
        index = number - self.first_line
        if index < 0 or index >= len(self._lines) or not self.text:
            return None
        return self._lines[index]

    def span(self, node: ast.AST) -> Span | None:
        """The span of a node whose positions are those of the user's file.

        Nodes that astile made have no position; their span is None.
        """
        line = getattr(node, "lineno", None)
        if not isinstance(line, int) or line < 1:
            return None
        start = int(getattr(node, "col_offset", 0))
        end_line = int(getattr(node, "end_lineno", None) or line)
        end = int(getattr(node, "end_col_offset", None) or start + 1)
        return Span(
            self,
            line,
            self._characters(line, start) + 1,
            end_line,
            self._characters(end_line, end) + 1,
        )

    def _characters(self, line: int, offset: int) -> int:
        """A byte offset of `ast` (it counts UTF-8) as a number of characters."""
        text = self.line(line)
        if text is None or text.isascii():
            return offset
        return len(text.encode()[:offset].decode(errors="ignore"))


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
