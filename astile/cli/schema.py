"""What ``--json`` prints: every object says which version of this schema it follows."""

from __future__ import annotations

from typing import Any

from astile.errors import AstileError
from astile.source import Span

#: Grows when a key is renamed or goes; new keys may come without it.
VERSION = 1


def document(command: str, **fields: object) -> dict[str, Any]:
    """What a command found.

    Args:
        command: its name.
        **fields: what it found, of types that JSON knows.
    """
    return {"schema": VERSION, "command": command, **fields}


def of_error(error: AstileError) -> dict[str, Any]:
    """An error with all that its message says.

    Args:
        error: what was raised.
    """
    told = error.diagnostic
    return {
        "schema": VERSION,
        "error": {
            "type": type(error).__name__,
            "code": told.code,
            "message": told.message,
            "operation": told.operation,
            "place": _place(told.span, told.label),
            "related": [_place(each.span, each.label) for each in told.related],
            "notes": list(told.notes),
            "hints": list(told.hints),
        },
    }


def _place(span: Span | None, label: str) -> dict[str, Any] | None:
    if span is None:
        return None
    return {
        "file": span.file.name,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "label": label,
    }
