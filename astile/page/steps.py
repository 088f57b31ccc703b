"""Two programs side by side, with what a step changed marked."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from astile.ir import query
from astile.ir.printer import print_expression
from astile.ir.program import Program

#: Unchanged lines that are shown on each side of a change.
_AROUND = 4
_FORMATTER = HtmlFormatter(nowrap=True)


@dataclass(frozen=True)
class Line:
    """A line on each side.

    Args:
        left: its HTML; None where that side has no such line.
        right: the same of the other side.
        is_changed: whether the sides differ.
        skipped: how many lines that are the same on both sides it stands for; 0 for a line.
    """

    left: str | None
    right: str | None
    is_changed: bool
    skipped: int = 0


def side_by_side(before: str, after: str) -> list[Line]:
    """Lines of two texts next to each other.

    Args:
        before: Python.
        after: Python.
    """
    left, right = before.splitlines(), after.splitlines()
    shown = _highlighted(before), _highlighted(after)
    lines: list[Line] = []
    for word, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        count = max(b - a, d - c)
        hidden = range(0)
        if word == "equal":
            first, last = (_AROUND if a else 0), count - (_AROUND if b < len(left) else 0)
            hidden = range(first, last) if last - first > 2 else hidden
        for k in range(count):
            if k in hidden:
                if k == hidden[0]:
                    lines.append(Line(None, None, False, len(hidden)))
                continue
            one = shown[0][a + k] if a + k < b else None
            other = shown[1][c + k] if c + k < d else None
            lines.append(Line(one, other, word != "equal"))
    return lines


def _highlighted(text: str) -> list[str]:
    """The lines of a text as HTML."""
    made = highlight(text, PythonLexer(stripnl=False, ensurenl=False), _FORMATTER)
    lines = made.split("\n")
    return [*lines, *[""] * (len(text.splitlines()) - len(lines))]


@dataclass(frozen=True)
class Box:
    """A loop, a condition, or a statement that writes arrays, as it is drawn.

    Args:
        kind: ``"range"``, ``"block"``, ``"thread"``, ``"parallel"``, ...; ``"if"``; ``"write"``.
        text: what stands in it.
        inner: the boxes inside.
    """

    kind: str
    text: str
    inner: tuple[Box, ...] = ()


def boxes(program: Program) -> tuple[Box, ...]:
    """The loop nests of a program.

    Args:
        program: any step of a schedule.
    """
    return tuple(_boxes(program.function.body))


def _boxes(body: Sequence[ast.stmt]) -> Iterator[Box]:
    for statement in body:
        if isinstance(statement, ast.For):
            header = query.header(statement)
            kind = "range" if header is None else header.kind.partition(".")[0]
            target = print_expression(statement.target)
            text = f"for {target} in {print_expression(statement.iter)}"
            yield Box(kind, text, tuple(_boxes(statement.body)))
        elif isinstance(statement, ast.If):
            yield Box("if", f"if {print_expression(statement.test)}", tuple(_boxes(statement.body)))
            if statement.orelse:
                yield Box("if", "else", tuple(_boxes(statement.orelse)))
        elif written := query.written_arrays(statement):
            yield Box("write", ", ".join(written))
