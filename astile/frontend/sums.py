"""Sums of integers, and how they are written."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from astile.ir import nodes


@dataclass(frozen=True)
class Linear:
    """``constant + sum(coefficient * symbol)``.

    Args:
        terms: symbol -> coefficient, none of them 0; a symbol is a name, or an extent of an array
            as the program writes it, ``"A.shape[0]"``.
        constant: the constant part.
    """

    terms: Mapping[str, int] = field(default_factory=dict)
    constant: int = 0

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """``self + factor * other``."""
        terms = dict(self.terms)
        for symbol, coefficient in other.terms.items():
            total = terms.get(symbol, 0) + factor * coefficient
            if total:
                terms[symbol] = total
            else:
                terms.pop(symbol, None)
        return Linear(terms, self.constant + factor * other.constant)

    def minus(self, other: Linear) -> Linear:
        """``self - other``."""
        return self.plus(other, -1)

    @property
    def value(self) -> int | None:
        """The value when it is a constant, else None."""
        return None if self.terms else self.constant

    def is_zero(self) -> bool:
        """Whether it is always 0."""
        return self.value == 0


def constant(value: int) -> Linear:
    """A number."""
    return Linear({}, value)


def symbol(text: str) -> Linear:
    """A symbol by itself."""
    return Linear({text: 1})


def extent_symbol(array: str, axis: int) -> str:
    """The symbol of the length of an array along an axis."""
    return f"{array}.shape[{axis}]"


# --- back to expressions -------------------------------------------------------------------------


def expression(form: Linear, spelled: Mapping[str, ast.expr] | None = None) -> ast.expr:
    """A sum as an expression: ``i + 1``, ``A.shape[0] - 2``.

    Args:
        form: the sum.
        spelled: symbol -> another way to write it.
    """
    parts = sorted(form.terms.items(), key=lambda item: item[1] < 0)
    result: ast.expr | None = None
    for text, coefficient in parts:
        whole = _symbol(text, spelled or {})
        if abs(coefficient) != 1:
            whole = nodes.binary(nodes.const(abs(coefficient)), ast.Mult, whole)
        result = _joined(result, whole, coefficient < 0)
    if result is None:
        return nodes.const(form.constant)
    if form.constant:
        result = _joined(result, nodes.const(abs(form.constant)), form.constant < 0)
    return result


def _joined(before: ast.expr | None, part: ast.expr, is_minus: bool) -> ast.expr:
    if before is None:
        return ast.UnaryOp(ast.USub(), part) if is_minus else part
    return nodes.binary(before, ast.Sub if is_minus else ast.Add, part)


def _symbol(text: str, spelled: Mapping[str, ast.expr]) -> ast.expr:
    if text in spelled:
        return nodes.clone(spelled[text])
    array, _, rest = text.partition(".shape[")
    if not rest:
        return nodes.name(text)
    return nodes.subscript(nodes.attribute(array, "shape"), [nodes.const(int(rest[:-1]))])


def names_in(forms: Iterable[Linear]) -> set[str]:
    """The names that sums are made of."""
    return {text.partition(".")[0] for form in forms for text in form.terms}
