"""The one renderer of messages: headline, snippet with caret, related places, notes, hints."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from astile.source import Span


@dataclass(frozen=True)
class Related:
    """A second place that explains a message."""

    span: Span
    label: str


@dataclass(frozen=True)
class Diagnostic:
    """Everything a message says, as fields; `render` turns it into text.

    Args:
        code: stable slug of the kind of message, for documentation and scripts.
        message: what is wrong, in one sentence.
        span: the user's line that it is about.
        label: printed after the caret.
        related: other places, each with a label.
        notes: why it is wrong.
        hints: what to write or do instead.
        operation: the schedule call with its arguments, when there was one.
    """

    code: str
    message: str
    span: Span | None = None
    label: str = ""
    related: tuple[Related, ...] = ()
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    operation: str | None = None
    kind: str = field(default="error")


def render(diagnostic: Diagnostic) -> str:
    """The text of a diagnostic, without colour.

    Args:
        diagnostic: what to print.
    """
    operation = f"{diagnostic.operation}: " if diagnostic.operation else ""
    lines = [f"{operation}{diagnostic.message} [{diagnostic.code}]"]
    if diagnostic.span is not None:
        lines += snippet(diagnostic.span, diagnostic.label)
    for place in diagnostic.related:
        lines += snippet(place.span, place.label)
    lines += [f"  note: {note}" for note in diagnostic.notes]
    lines += [f"  help: {hint}" for hint in diagnostic.hints]
    return "\n".join(lines)


#: Version of `as_dict` and of what commands print as JSON. It grows when a key is renamed or goes;
#: new keys may come without it.
SCHEMA = 1


def as_dict(diagnostic: Diagnostic) -> dict[str, Any]:
    """All that a message says, as types that JSON knows.

    Args:
        diagnostic: what is told.
    """
    place = diagnostic.span
    return {
        "code": diagnostic.code,
        "message": diagnostic.message,
        "operation": diagnostic.operation,
        "place": None if place is None else place_as_dict(place, diagnostic.label),
        "related": [place_as_dict(each.span, each.label) for each in diagnostic.related],
        "notes": list(diagnostic.notes),
        "hints": list(diagnostic.hints),
    }


def place_as_dict(span: Span, label: str = "") -> dict[str, Any]:
    """A place as types that JSON knows.

    Args:
        span: of a file.
        label: what is said about it.
    """
    return {
        "file": span.file.name,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "label": label,
    }


#: Columns of a source line that a message shows.
_SHOWN = 100


def snippet(span: Span, label: str) -> list[str]:
    """The place of a span, its line and a caret under the columns it covers."""
    lines = [f"  --> {span}"]
    text = span.file.line(span.line)
    if text is None:
        return lines + ([f"      {label}"] if label else [])
    number = str(span.line)
    margin = " " * len(number)
    end = span.end_column if span.end_line == span.line else len(text) + 1
    end = max(span.column + 1, min(end, len(text) + 1))
    shown, start, stop = _window(text, span.column - 1, end - 1)
    before = "".join(_blank(each) for each in shown[:start])
    carets = "^" * max(1, sum(_columns(each) for each in shown[start:stop]))
    lines.append(f"  {number} | {shown}")
    lines.append(f"  {margin} | {before}{carets} {label}".rstrip())
    return lines


def _window(text: str, start: int, stop: int) -> tuple[str, int, int]:
    """The part of a long line around the caret, and where the caret is in it."""
    text = text.rstrip()
    if len(text) <= _SHOWN:
        return text, start, stop
    indent = len(text) - len(text.lstrip())
    cut = min(start - _SHOWN // 4, len(text) - (_SHOWN - 3))
    if cut <= indent:
        return text[: _SHOWN - 3] + "...", start, min(stop, _SHOWN - 3)
    last = len(text) if cut + _SHOWN - 3 >= len(text) else cut + _SHOWN - 6
    shown = "..." + text[cut:last] + ("..." if last < len(text) else "")
    return shown, start - cut + 3, min(stop, last) - cut + 3


def _columns(character: str) -> int:
    """Columns that a character takes on a terminal: 2 for wide ones."""
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _blank(character: str) -> str:
    return "\t" if character == "\t" else " " * _columns(character)


#: No other names for the words that are known.
_NONE: Mapping[str, str] = MappingProxyType({})


def listed(parts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``.

    Args:
        parts: at least one.
    """
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)


def did_you_mean(
    word: str, candidates: Iterable[str], called: Mapping[str, str] = _NONE
) -> str | None:
    """A hint naming the candidate nearest to a misspelt word, or None when none is near.

    Args:
        word: as it was written.
        candidates: the words that there are.
        called: what some of them are called elsewhere -> the word for it here.
    """
    spelled = {each.casefold(): each for each in candidates}  # `A` is nearest to `a`
    written = word.casefold()
    if called.get(written) in spelled.values():
        return f"did you mean {called[written]!r}?"
    # `A_shared` is what became of `A`
    longer = [each for each in spelled if each.startswith(f"{written}_")]
    near = difflib.get_close_matches(written, list(spelled), n=1, cutoff=0.5) or longer[:1]
    return f"did you mean {spelled[near[0]]!r}?" if near else None


def suggestions(
    word: str, known: Iterable[str], what: str, called: Mapping[str, str] = _NONE
) -> list[str]:
    """Hints for a word that is not known: the nearest one, and all there are.

    Args:
        word: as it was written.
        known: the words that there are.
        what: they are, such as ``"loops here"``.
        called: what some of them are called elsewhere.
    """
    words = list(dict.fromkeys(known))
    near = did_you_mean(word, words, called)
    every = f"{what}: {', '.join(words) or 'none'}"
    return [every] if near is None else [near, every]
