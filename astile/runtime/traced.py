"""Errors that generated text raises are told at the user's own line."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import TracebackType

from astile.diagnostics import snippet
from astile.errors import AstileError
from astile.source import Span

#: Line of a generated text -> the user's place of what stands there.
PlaceOf = Callable[[int], Span | None]


def nowhere(line: int) -> Span | None:
    """The places of a text that nobody wrote.

    Args:
        line: of it.
    """
    return None


def note(error: Exception, text: str, place_of: PlaceOf, *, is_compiled: bool = False) -> None:
    """Add the user's line to an error that a statement of a generated text raised.

    Args:
        error: as it comes out of the text; one from elsewhere stays as it is.
        text: the generated module.
        place_of: its lines in the user's file.
        is_compiled: whether machine code ran, whose errors have no line.
    """
    told_at = error.diagnostic.span if isinstance(error, AstileError) else None
    if told_at is not None and told_at.file.text == text:  # a fault that the emulator found
        place = place_of(told_at.line)
        if isinstance(error, AstileError) and place is not None:
            error.noted(f"this line is made from {place}")
        return
    line = _line_in(error.__traceback__, text)
    span = None if line is None else place_of(line)
    if span is not None:
        told = "\n".join(["raised by your statement", *snippet(span, "")])
    elif is_compiled and isinstance(error, (ArithmeticError, LookupError)):
        told = "raised by compiled code: with target='python' it is raised at its line"
    else:
        return
    if told not in getattr(error, "__notes__", ()):
        error.add_note(told)


def _line_in(found: TracebackType | None, text: str) -> int | None:
    """The line of a text at which a traceback passes through it last."""
    line = None
    while found is not None:
        name = found.tb_frame.f_code.co_filename
        if "".join(linecache.getlines(name)) == text:
            line = found.tb_lineno
        found = found.tb_next
    return line
