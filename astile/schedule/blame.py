"""From a line of generated text to the call that made it, and to the user's own line."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from astile.diagnostics import place_as_dict, snippet
from astile.errors import ArgumentError
from astile.ir import query
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.lower import places, python
from astile.lower.lowered import Lowered
from astile.source import SourceFile, Span


@dataclass(frozen=True)
class Blame:
    """Where one line of a generated text comes from.

    Args:
        target: whose text it is.
        line: number of the line, from 1.
        text: of the line.
        step: number of the step that made it, from 1; None for what was there before the first
            step, and for what the target needs whatever the schedule.
        call: that step's call; None with `step`.
        place: the user's statement that it does; None for lines without one.
    """

    target: str
    line: int
    text: str
    step: int | None
    call: str | None
    place: Span | None

    def __str__(self) -> str:
        told = [f"{self.target}:{self.line}: {self.text.strip()}"]
        if self.step is not None:
            told.append(f"  made by step {self.step}: s.{self.call}")
        if self.place is not None:
            told += snippet(self.place, "")
        elif self.step is None:
            told.append(f"  made for target {self.target}")
        return "\n".join(told)

    def to_dict(self) -> dict[str, Any]:
        """The same as types that JSON knows."""
        return {
            "target": self.target,
            "line": self.line,
            "text": self.text,
            "step": self.step,
            "call": self.call,
            "place": None if self.place is None else place_as_dict(self.place),
        }


def table(
    programs: Sequence[Program], calls: Sequence[str], lowered: Lowered, stamped: Lowered
) -> tuple[Blame, ...]:
    """The blame of every line of a text.

    Args:
        programs: the one before the first step, and those after each step, in order.
        calls: of the steps.
        lowered: the last program, for any target.
        stamped: the same of `with_printed_lines`.
    """
    program = programs[-1]
    makers = _makers([module_text(each) for each in programs])
    printed = python.lower(program)
    lines = lowered.text.splitlines()
    found = []
    for number, text in enumerate(lines, 1):
        own = lowered.statements.get(number) if text.strip() else None
        twin = stamped.statements.get(number) if stamped.text == lowered.text else None
        origin = None if own is None else _line_of(twin) or _line_of_name(own, printed)
        step = makers.get(origin, 0) if origin is not None else 0
        call = calls[step - 1] if step else None
        place = None if own is None else places.place_of(own, program, lowered)
        found.append(Blame(lowered.target, number, text, step or None, call, place))
    return tuple(found)


def with_printed_lines(program: Program) -> Program:
    """A program whose statements stand where its own printed text has them.

    Args:
        program: any form of a kernel.
    """
    made = python.lower(program)
    function = made.body[-1]
    assert isinstance(function, ast.FunctionDef)
    text = made.text.splitlines()
    lines: dict[int, int] = {}
    for number, each in made.statements.items():
        if not text[number - 1].lstrip().startswith("#"):
            lines.setdefault(id(each), number)
    for each in query.statements(function):
        for node in ast.walk(each):
            node.lineno = lines.get(id(each), 0)  # type: ignore[attr-defined]
    return replace(program, function=function, source=SourceFile("<printed>", made.text))


def at(lines: Sequence[Blame], line: int) -> Blame:
    """One line of a table.

    Args:
        lines: all of them.
        line: number of one, from 1.

    Raises:
        ArgumentError: when there is none.
    """
    if isinstance(line, int) and 1 <= line <= len(lines):
        return lines[line - 1]
    raise ArgumentError(
        f"the text has no line {line!r}",
        code="argument.no-line",
        hints=[f"its lines are 1 to {len(lines)}"],
    )


def _line_of(statement: ast.stmt | None) -> int | None:
    """The stamped line of a statement, or of the first one in it that has one."""
    parts = () if statement is None else query.statements(statement)
    for each in parts if not isinstance(statement, ast.FunctionDef) else ():
        line = getattr(each, "lineno", 0)
        if isinstance(line, int) and line > 0:
            return line
    return None


def _line_of_name(statement: ast.stmt, printed: Lowered) -> int | None:
    """The printed line that gives a name its value: the loop of ``i = cuda.threadIdx.x``."""
    names = query.names_written(statement) if isinstance(statement, ast.Assign) else set()
    for number, each in printed.statements.items():
        own = each.target if isinstance(each, ast.For) else each
        if isinstance(each, (ast.For, ast.Assign)) and query.names_written(own) & names:
            return number
    return None


def _makers(texts: Sequence[str]) -> Mapping[int, int]:
    """Line of the last text -> number of the text in which it came up first."""
    last = texts[-1].splitlines()
    makers = dict.fromkeys(range(1, len(last) + 1), len(texts) - 1)
    alive = {number: number for number in makers}  # line of the last text -> line of this one
    for number in range(len(texts) - 1, 0, -1):
        before = dict(_kept(texts[number - 1], texts[number]))
        alive = {line: before[at] for line, at in alive.items() if at in before}
        for line in alive:
            makers[line] = number - 1
    return makers


def _kept(before: str, after: str) -> Iterator[tuple[int, int]]:
    """Lines of a text that were in the one before: (line after, line before)."""
    one, other = ([each.strip() for each in text.splitlines()] for text in (before, after))
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    for block in matcher.get_matching_blocks():
        for k in range(block.size):
            yield block.b + k + 1, block.a + k + 1
