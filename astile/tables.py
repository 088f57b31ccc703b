"""Tables as plain text."""

from __future__ import annotations

from collections.abc import Sequence


def table_text(headings: Sequence[str], rows: Sequence[Sequence[str]], right: str = "") -> str:
    """Columns set apart by two blanks, however wide.

    Args:
        headings: of the columns.
        rows: cells as text.
        right: ``">"`` for each column of numbers, anything else for the others.
    """
    lines = [headings, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    signs = right.ljust(len(widths), "<")
    return "\n".join(
        "  ".join(f"{c:{s}{w}}" for c, s, w in zip(line, signs, widths, strict=True)).rstrip()
        for line in lines
    )
