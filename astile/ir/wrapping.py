"""Wraps long lines of printed Python the way a formatter would.

A line is broken inside brackets, at the operators or commas of the lowest depth; where a value has
no brackets around it, it gets them. A string that is too long by itself becomes several in a
row. Only line breaks, brackets around whole values, such strings and trailing commas of lists
already separated by commas are added; the printer checks that the text still parses to the same
tree.

The method is the right-hand split and delimiter split of the formatter Black (public
documentation, "The Black code style"), reduced to what printed programs contain.
"""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass

from astile.ir import nodes

_STEP = 4
_OPENING, _CLOSING = "([{", ")]}"
_LAYOUT = (
    tokenize.NEWLINE,
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.COMMENT,
)
_COMMA = 20
#: Operators at which a line may break; a higher number breaks first.
_PRIORITY = {
    ",": _COMMA,
    "if": 16,
    "else": 16,
    "or": 14,
    "and": 13,
    "in": 10,
    "not in": 10,
    "is": 10,
    "is not": 10,
    "<": 10,
    "<=": 10,
    ">": 10,
    ">=": 10,
    "==": 10,
    "!=": 10,
    "|": 9,
    "^": 8,
    "&": 7,
    "<<": 6,
    ">>": 6,
    "+": 5,
    "-": 5,
    "*": 4,
    "/": 4,
    "//": 4,
    "%": 4,
    "@": 4,
    "**": 2,
}
_ASSIGNING = ("=", "+=", "-=", "*=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", ">>=", "<<=", "**=")
#: Statements whose value stands between a keyword and the end or a colon.
_KEYWORDS = ("if", "elif", "while", "return", "assert", "raise", "import")


@dataclass(frozen=True)
class _Token:
    """One token, with the white space before it."""

    space: str
    text: str


_Tokens = Sequence[_Token]


def wrap(text: str, width: int) -> str:
    """`text` with every line of more than `width` columns broken where that can be done.

    Args:
        text: printed Python, one statement a line.
        width: columns a line may have.
    """
    lines = text.split("\n")
    if all(len(line) <= width for line in lines):
        return text
    inside = _inside_strings(text)
    wrapped: list[str] = []
    for number, line in enumerate(lines, start=1):
        long = len(line) > width and number not in inside
        wrapped += _wrap_line(line, width) if long else [line]
    return "\n".join(wrapped)


def _inside_strings(text: str) -> set[int]:
    """Numbers of the lines that hold a piece of a string of several lines."""
    found: set[int] = set()
    if '"""' not in text and "'''" not in text:
        return found
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.start[0] != token.end[0]:
            found.update(range(token.start[0], token.end[0] + 1))
    return found


def _wrap_line(line: str, width: int) -> list[str]:
    stripped = line.lstrip(" ")
    indent = len(line) - len(stripped)
    tokens = _tokens(stripped)
    if tokens is None:
        return [line]
    head, value, tail = _parts(tokens)
    if not value:
        return [line]
    wrapped = _Wrapper(width).statement(head, value, tail, indent)
    return wrapped if _is_same([line], wrapped, indent) else [line]


def _is_same(lines: list[str], wrapped: list[str], indent: int) -> bool:
    """Whether two spellings of one statement, or of the header of one, mean the same."""
    first, second = (_header("\n".join(each)[indent:]) for each in (lines, wrapped))
    try:
        return nodes.same(ast.parse(first), ast.parse(second))
    except SyntaxError:
        return False


def _header(text: str) -> str:
    """A statement that parses by itself."""
    whole = f"{text} pass" if text.endswith(":") else text
    return whole.removeprefix("el") if text.startswith("elif") else whole


def _tokens(line: str) -> list[_Token] | None:
    """The tokens of a line; None where it is no whole statement or has words not laid out here."""
    found: list[_Token] = []
    end = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(line).readline):
            if token.type in _LAYOUT:
                continue
            if token.start[0] != 1 or token.end[0] != 1 or token.string == "lambda":
                return None
            found.append(_Token(line[end : token.start[1]], token.string))
            end = token.end[1]
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return None
    return _merge_words(found) if _matched(found) else None


def _matched(tokens: _Tokens) -> bool:
    depth = 0
    for token in tokens:
        depth += _change(token)
        if depth < 0:
            return False
    return depth == 0


def _merge_words(tokens: list[_Token]) -> list[_Token]:
    """``not in`` and ``is not`` become one token each."""
    merged: list[_Token] = []
    for token in tokens:
        pair = f"{merged[-1].text} {token.text}" if merged else ""
        if pair in ("not in", "is not"):
            merged[-1] = _Token(merged[-1].space, pair)
        else:
            merged.append(token)
    return merged


def _change(token: _Token) -> int:
    if len(token.text) != 1:
        return 0
    return (token.text in _OPENING) - (token.text in _CLOSING)


def _parts(tokens: list[_Token]) -> tuple[list[_Token], list[_Token], list[_Token]]:
    """A statement as head, value to be wrapped, and tail (a colon, the message of `assert`)."""
    tail = [tokens[-1]] if tokens[-1].text == ":" else []
    if tokens[0].text == "assert":
        commas = [index for index, priority in _breaks(tokens) if priority == _COMMA]
        tail = tokens[commas[0] :] if commas else []
    rest = tokens[: len(tokens) - len(tail)]
    cut = 0
    depth = 0
    first = rest[0].text
    for index, token in enumerate(rest):
        depth += _change(token)
        if depth:
            continue
        opens_iterator = first == "for" and token.text == "in" and not cut
        opens_names = first == "from" and token.text == "import"
        if opens_iterator or opens_names or token.text in _ASSIGNING:
            cut = index + 1
    if not cut and first in _KEYWORDS:
        cut = 1
    return rest[:cut], rest[cut:], tail


def _text(tokens: _Tokens) -> str:
    return "".join(token.space + token.text for token in tokens).strip()


def _groups(tokens: _Tokens) -> list[tuple[int, int]]:
    """Start and end of the bracketed groups at depth 0; the end is the closing bracket."""
    found: list[tuple[int, int]] = []
    depth, start = 0, 0
    for index, token in enumerate(tokens):
        change = _change(token)
        if change > 0 and depth == 0:
            start = index
        depth += change
        if change < 0 and depth == 0:
            found.append((start, index))
    return found


def _breaks(tokens: _Tokens) -> list[tuple[int, int]]:
    """Position and priority of the operators at depth 0 at which the line may break."""
    found: list[tuple[int, int]] = []
    depth = 0
    for index, token in enumerate(tokens):
        depth += _change(token)
        priority = _PRIORITY.get(token.text)
        if depth == 0 and priority is not None and index and _is_operand_end(tokens[index - 1]):
            found.append((index, priority))
    return found


def _is_operand_end(token: _Token) -> bool:
    """Whether an operand ends here, so that a following ``-`` is binary."""
    last = token.text[-1]
    if keyword.iskeyword(token.text):
        return token.text in ("None", "True", "False")
    return last.isalnum() or last in "_)]}\"'."


def _is_string(text: str) -> bool:
    """Whether a token is a string that may be cut at spaces: no prefix, on one line."""
    return text[0] in "\"'" and not text.startswith(('"""', "'''"))


@dataclass(frozen=True)
class _Wrapper:
    width: int

    def statement(self, head: _Tokens, value: _Tokens, tail: _Tokens, indent: int) -> list[str]:
        """The lines of a statement too long for one line."""
        before, after = _text(head), _text(tail)
        start = f"{before} " if before else ""
        lines: list[str] = []
        is_name_or_number = not (_breaks(value) or _groups(value))
        if is_name_or_number or not self._fits(f"{start}(", indent):
            lines, start = self._shortened_head(head, indent)
        if lines and self._fits(start + _text(value) + after, indent):
            return [*lines, " " * indent + start + _text(value) + after]
        group = self._hugged(value, indent, start, after)
        if group is not None:
            return lines + self._around(value, group, indent, start, after)
        if _breaks(value) or _groups(value) or self._fits(_text(value), indent + _STEP):
            opening = " " * indent + start + "("
            inside = self._inside(value, indent + _STEP)
            return [*lines, opening, *inside, " " * indent + ")" + after]
        return [*lines, " " * indent + start + _text(value) + after]

    def _shortened_head(self, head: _Tokens, indent: int) -> tuple[list[str], str]:
        """A target that is too long by itself, broken in its index, and what is left to print."""
        filled = [group for group in _groups(head) if group[1] > group[0] + 1]
        if not filled:
            return [], f"{_text(head)} "
        group = self._fitting(filled, head, indent, "", " (") or filled[0]
        broken = self._around(head, group, indent, "", "")
        return broken[:-1], broken[-1].lstrip() + " "

    def _hugged(self, value: _Tokens, indent: int, start: str, end: str) -> tuple[int, int] | None:
        """The brackets of the value that may take the break, or None when it needs its own."""
        filled = [group for group in _groups(value) if group[1] > group[0] + 1]
        if not filled:
            return None
        breaks = _breaks(value)
        if breaks:
            highest = max(priority for _, priority in breaks)
            if highest == _COMMA or sum(p == highest for _, p in breaks) > 1:
                return None
            filled = [filled[0] if filled[0][0] == 0 else filled[-1]]
            opening, closing = filled[0]
            is_call = value[opening].text == "(" and closing == len(value) - 1
            if opening != 0 and not is_call:
                return None
        return self._fitting(filled, value, indent, start, end)

    def _fitting(
        self, groups: list[tuple[int, int]], value: _Tokens, indent: int, start: str, end: str
    ) -> tuple[int, int] | None:
        """The last pair of brackets that leaves short lines before and after it."""
        for group in reversed(groups):
            first = start + _text(value[: group[0] + 1])
            last = _text(value[group[1] :]) + end
            if self._fits(first, indent) and self._fits(last, indent):
                return group
        return None

    def _around(
        self, value: _Tokens, group: tuple[int, int], indent: int, start: str, end: str
    ) -> list[str]:
        """Break inside one pair of brackets."""
        opening, closing = group
        lines = [" " * indent + start + _text(value[: opening + 1])]
        lines += self._inside(value[opening + 1 : closing], indent + _STEP)
        lines.append(" " * indent + _text(value[closing:]) + end)
        return lines

    def _inside(self, body: _Tokens, indent: int) -> list[str]:
        """The content of brackets: on one line, or broken at its outermost operators."""
        if self._fits(_text(body), indent):
            return [" " * indent + _text(body)]
        return self._broken(body, indent, "", "", comma=True)

    def _broken(
        self, body: _Tokens, indent: int, start: str, end: str, *, comma: bool = False
    ) -> list[str]:
        """Break at the operators of the highest priority, one operand a line."""
        breaks = _breaks(body)
        if not breaks:
            return self._operand(body, indent, start, end)
        highest = max(priority for _, priority in breaks)
        at = [index for index, priority in breaks if priority == highest]
        by_comma = highest == _COMMA
        lines: list[str] = []
        for number, (begin, stop) in enumerate(zip([0, *at], [*at, len(body)], strict=True)):
            last = number == len(at)
            leads = "" if number == 0 or by_comma else body[begin].text + " "
            piece = body[begin + (number > 0) : stop]
            if not piece:  # a trailing comma that was there before
                continue
            ends = "," if by_comma and (not last or comma) else ""
            lines += self._piece(
                piece, indent, (start if number == 0 else "") + leads, ends + (end if last else "")
            )
        return lines

    def _piece(self, piece: _Tokens, indent: int, start: str, end: str) -> list[str]:
        if self._fits(start + _text(piece) + end, indent):
            return [" " * indent + start + _text(piece) + end]
        group = self._hugged(piece, indent, start, end)
        if group is not None:
            return self._around(piece, group, indent, start, end)
        return self._broken(piece, indent, start, end)

    def _operand(self, piece: _Tokens, indent: int, start: str, end: str) -> list[str]:
        filled = [group for group in _groups(piece) if group[1] > group[0] + 1]
        if not filled:
            if len(piece) == 1 and _is_string(piece[0].text):
                return self._string(piece[0].text, indent, start, end)
            return [" " * indent + start + _text(piece) + end]
        group = self._fitting(filled, piece, indent, start, end) or filled[0]
        return self._around(piece, group, indent, start, end)

    def _fits(self, text: str, indent: int) -> bool:
        return indent + len(text) <= self.width

    def _string(self, literal: str, indent: int, start: str, end: str) -> list[str]:
        """A string as several in a row, cut after spaces; it stands inside brackets."""
        quote, words = literal[0], literal[1:-1].split(" ")
        room = self.width - indent - 2 * len(quote) - len(end)
        parts = [start + quote + words[0]]
        for word in words[1:]:
            if len(parts[-1]) + 1 + len(word) + 1 <= room:
                parts[-1] += f" {word}"
            else:
                parts[-1] += f" {quote}"
                parts.append(quote + word)
        return [" " * indent + each for each in (*parts[:-1], parts[-1] + quote + end)]
