"""Tables as plain text, and for terminals."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: str = "") -> Table:
    """A table for a terminal.

    Args:
        headings: of the columns.
        rows: cells as text.
        right: ``">"`` for each column of numbers, anything else for the others.
    """
    made = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for position, heading in enumerate(headings):
        is_number = right[position : position + 1] == ">"
        made.add_column(heading, justify="right" if is_number else "left", no_wrap=True)
    for row in rows:
        made.add_row(*row)
    return made


def table_text(headings: Sequence[str], rows: Sequence[Sequence[str]], right: str = "") -> str:
    """The same as plain text, however wide.

    Args:
        headings: of the columns.
        rows: cells as text.
        right: as for `table`.
    """
    file = io.StringIO()
    width = sum(max(len(r[k]) for r in (headings, *rows)) + 2 for k in range(len(headings)))
    console = Console(file=file, width=width, color_system=None, markup=False, emoji=False)
    console.print(table(headings, rows, right))
    return "\n".join(line.rstrip() for line in file.getvalue().rstrip().splitlines())
