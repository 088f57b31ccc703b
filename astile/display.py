"""How notebooks show what users hold: highlighted source, as plain text and as HTML."""

from __future__ import annotations

from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

#: MIME type -> text, as notebooks ask for it.
Bundle = dict[str, str]

_FORMATTER = HtmlFormatter(noclasses=True, nobackground=True)


def bundle(head: str, text: str, language: str = "python") -> Bundle:
    """A line of description and a text.

    Args:
        head: what it is.
        text: to be shown below.
        language: a name that Pygments knows; ``"text"`` for a table.
    """
    shown = highlight(text, get_lexer_by_name(language), _FORMATTER)
    return {
        "text/plain": f"{head}\n\n{text}".rstrip("\n"),
        "text/html": f"<p><code>{escape(head)}</code></p>{shown}",
    }
