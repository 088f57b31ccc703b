"""Printing: coloured on a terminal, plain where it is piped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.syntax import Syntax
from rich.table import Table

from astile.tables import table_text


def print_source(text: str, language: str = "python") -> None:
    """Print a text, highlighted on a terminal.

    Args:
        text: to be printed.
        language: a name that Pygments knows.
    """
    console = Console()
    if console.is_terminal:
        console.print(Syntax(text.rstrip("\n"), language, background_color="default"))
    else:
        click.echo(text.rstrip("\n"))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; where it is piped, with columns set by spaces.

    Args:
        headings: of the columns.
        rows: cells as text.
    """
    console = Console()
    if console.is_terminal:
        table = Table(*headings, box=None, header_style="bold", pad_edge=False)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    else:
        click.echo(table_text(headings, rows))


def print_json(value: dict[str, Any]) -> None:
    """Print an object as JSON.

    Args:
        value: made by `astile.cli.schema`.
    """
    click.echo(json.dumps(value, indent=2))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say what is wrong with a file that cannot be written.

    Args:
        path: of the file.

    Raises:
        click.UsageError: in place of the error of the operating system.
    """
    try:
        yield
    except OSError as error:
        raise click.UsageError(f"cannot write {str(path)!r}: {error.strerror}") from error


@contextmanager
def progress(*, is_shown: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on the terminal's error stream while something runs; none where that is piped.

    Args:
        is_shown: whether there is to be one at all.
    """
    console = Console(stderr=True)
    hidden = not (is_shown and console.is_terminal)
    with Progress(console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("", total=None)

        def show(label: str, done: int, of: int) -> None:
            bar.update(task, description=label, completed=done, total=of)

        yield show
