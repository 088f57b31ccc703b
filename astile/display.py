"""How notebooks show what users hold: highlighted source, as plain text and as HTML."""

from __future__ import annotations

from html import escape
from importlib import import_module

#: MIME type -> text, as notebooks ask for it.
Bundle = dict[str, str]


def bundle(head: str, text: str, language: str = "python") -> Bundle:
    """A line of description and a text.

    Args:
        head: what it is.
        text: to be shown below.
        language: a name that Pygments knows; ``"text"`` for a table.
    """
    highlight = import_module("astile.highlight")  # only notebooks ask for this: it takes time
    return {
        "text/plain": f"{head}\n\n{text}".rstrip("\n"),
        "text/html": f"<p><code>{escape(head)}</code></p>{highlight.notebook(text, language)}",
    }
