"""Colours of what is shown as HTML: text can be read on every background that it stands on."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES

#: The least contrast of text that level AA of WCAG 2 asks for.
CONTRAST = 4.5
#: Steps in which a colour goes to black or white.
_STEPS = 20
#: What notebooks and documents write on their pages when they are dark; the system may not be.
_DARK_PAGES = (
    '[data-jp-theme-light="false"], [data-theme="dark"], [theme="dark"], .vscode-dark, '
    ".vscode-high-contrast"
)
_FORMATTER = HtmlFormatter(nowrap=True)


@dataclass(frozen=True)
class Theme:
    """Colours that go together.

    Args:
        style: of tokens, a name that Pygments knows.
        colours: name -> colour, as the page uses them in its CSS.
    """

    style: str
    colours: Mapping[str, str]

    @property
    def backgrounds(self) -> tuple[str, ...]:
        """What text may stand on."""
        return tuple(self.colours[each] for each in ("back", "soft", "add", "take"))

    def tokens(self) -> dict[str, str]:
        """CSS class of a token -> its declarations; what has no colour is left to the text."""
        found = {}
        for token, look in get_style_by_name(self.style):
            made = []
            if look["color"]:
                made.append(f"color: {readable('#' + look['color'], self.backgrounds)}")
            made += ["font-weight: bold"] * look["bold"] + ["font-style: italic"] * look["italic"]
            if made and STANDARD_TYPES.get(token):
                found[STANDARD_TYPES[token]] = "; ".join(made)
        return found


LIGHT = Theme(
    "default",
    {
        "back": "#ffffff", "text": "#1c1e21", "quiet": "#5b6168", "line": "#d5d9de",
        "soft": "#f4f6f8", "add": "#d9f5dd", "take": "#fde2e0", "read": "#2f7fd6",
        "write": "#e0662b", "accent": "#2458a6",
    },
)  # fmt: skip
DARK = Theme(
    "github-dark",
    {
        "back": "#14171a", "text": "#e4e7ea", "quiet": "#9aa2aa", "line": "#363c43",
        "soft": "#1e2226", "add": "#17402a", "take": "#4b2324", "read": "#5aa5f5",
        "write": "#f08a4b", "accent": "#8ab8f5",
    },
)  # fmt: skip


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 defines it, from 1 to 21.

    Args:
        one: as ``#rrggbb``.
        other: the same.
    """
    dark, bright = sorted((_luminance(one), _luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def readable(colour: str, backgrounds: Collection[str]) -> str:
    """A colour, brought as near to black or white as text on the backgrounds needs.

    Args:
        colour: as ``#rrggbb``.
        backgrounds: the same; all dark or all bright.
    """

    def least(text: str) -> float:
        return min(contrast(text, each) for each in backgrounds)

    end = max("#000000", "#ffffff", key=least)
    tried = (_mixed(colour, end, step / _STEPS) for step in range(_STEPS + 1))
    return next((each for each in tried if least(each) >= CONTRAST), end)


def notebook(text: str, language: str) -> str:
    """Text in a box that has its own background, in a bright or dark notebook.

    Args:
        text: to be shown.
        language: a name that Pygments knows.
    """
    shown = highlight(text, get_lexer_by_name(language), _FORMATTER)
    used = set(re.findall(r'class="(\w+)"', shown))
    css = "\n".join(_notebook_rules(used))
    return f'<style>\n{css}\n</style><div class="astile"><pre>{shown}</pre></div>'


def _notebook_rules(used: Set[str]) -> Iterator[str]:
    def both(light: str, dark: str) -> str:
        return f"light-dark({light}, {dark})"

    text, back = (both(LIGHT.colours[e], DARK.colours[e]) for e in ("text", "soft"))
    yield (
        f"div.astile {{ color-scheme: light; color: {text}; background: {back}; "
        "padding: .6em .8em; border-radius: 4px; overflow-x: auto }"
    )
    yield f":is({_DARK_PAGES}) div.astile {{ color-scheme: dark }}"
    yield (
        "div.astile pre { color: inherit; background: none; border: 0; margin: 0; padding: 0; "
        "white-space: pre; font: 13px/1.45 ui-monospace, monospace }"
    )
    light, dark = LIGHT.tokens(), DARK.tokens()
    for name in sorted(used & (light.keys() | dark.keys())):
        colours = (_colour(light, name, LIGHT), _colour(dark, name, DARK))
        yield f"div.astile .{name} {{ color: {both(*colours)} }}"


def _colour(tokens: Mapping[str, str], name: str, theme: Theme) -> str:
    found = re.search(r"color: (#\w+)", tokens.get(name, ""))
    return theme.colours["text"] if found is None else found[1]


def _luminance(colour: str) -> float:
    parts = (part / 255 for part in _channels(colour))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _mixed(colour: str, end: str, part: float) -> str:
    pairs = zip(_channels(colour), _channels(end), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))
