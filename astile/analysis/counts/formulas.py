"""Numbers as formulas over sizes: sums of products of extents, such as ``4*(H + 2)*(W + 2)``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm


@dataclass(frozen=True)
class Formula:
    """A sum of products with rational factors; its value is an integer.

    Args:
        terms: factors, each as Python text, in order -> how often their product is taken.
    """

    terms: Mapping[tuple[str, ...], Fraction] = field(default_factory=dict)

    @classmethod
    def number(cls, value: int) -> Formula:
        """A number that does not depend on any size."""
        return cls({(): Fraction(value)} if value else {})

    @classmethod
    def linear(cls, terms: Mapping[str, Fraction], constant: Fraction) -> Formula:
        """``constant + sum(coefficient * name)``.

        Args:
            terms: name, or another factor as text -> coefficient, none of them 0.
            constant: the constant part.
        """
        sums: dict[tuple[str, ...], Fraction] = {(n,): value for n, value in terms.items()}
        return cls({**sums, (): constant} if constant else sums)

    @property
    def value(self) -> int | None:
        """The number, where it depends on no size."""
        found = self.terms.get((), Fraction(0))
        return int(found) if set(self.terms) <= {()} else None

    def plus(self, other: Formula) -> Formula:
        """``self + other``."""
        terms = dict(self.terms)
        for factors, times in other.terms.items():
            terms[factors] = terms.get(factors, Fraction(0)) + times
        return Formula({factors: times for factors, times in terms.items() if times})

    def times(self, other: Formula | int) -> Formula:
        """``self * other``."""
        if isinstance(other, int):
            other = Formula.number(other)
        result = Formula()
        for factors, number in self.terms.items():
            for others, another in other.terms.items():
                product = tuple(sorted((*factors, *others)))
                result = result.plus(Formula({product: number * another}))
        return result

    def __str__(self) -> str:
        below = lcm(1, *(each.denominator for each in self.terms.values()))
        parts = [
            _product(factors, int(times * below))
            for factors, times in sorted(self.terms.items(), key=_rank)
        ]
        text = _joined(parts) or "0"
        if below == 1:
            return text
        return f"({text})//{below}" if len(parts) > 1 else f"{text}//{below}"


def total(formulas: Iterable[Formula]) -> Formula:
    """The sum of formulas."""
    result = Formula()
    for each in formulas:
        result = result.plus(each)
    return result


def product(formulas: Iterable[Formula]) -> Formula:
    """The product of formulas, in which sums of whole multiples stay factors: ``(H + 2)*W``."""
    result, number = Formula.number(1), 1
    sums = []
    for each in formulas:
        if each.value is not None:
            number *= each.value
        else:
            sums.append(each)
    for each in sums:
        is_whole = all(times.denominator == 1 for times in each.terms.values())
        if len(sums) > 1 and len(each.terms) > 1 and is_whole:
            each = Formula({(str(each),): Fraction(1)})
        result = result.times(each)
    return result.times(number)


def quotient(terms: Mapping[str, int], constant: int, divisor: int) -> str:
    """``(sum + constant)//divisor`` as text.

    Args:
        terms: name -> coefficient.
        constant: the constant part.
        divisor: above 1.
    """
    return f"{_factor(_sum({n: Fraction(v) for n, v in terms.items()}, constant))}//{divisor}"


def _rank(term: tuple[tuple[str, ...], Fraction]) -> tuple[int, bool, tuple[str, ...]]:
    """Long products first, and plain ones before those with quotients."""
    factors, _ = term
    return -len(factors), any("//" in each for each in factors), factors


def _sum(terms: Mapping[str, Fraction], constant: int) -> str:
    parts = [_product((name,), int(times)) for name, times in sorted(terms.items())]
    parts.sort(key=lambda part: part.startswith("-"))  # H - 2, not -2 + H
    return _joined([*parts, str(constant)] if constant else parts)


def _product(factors: tuple[str, ...], times: int) -> str:
    powers = [
        _factor(each) if power == 1 else f"{_factor(each)}**{power}"
        for each, power in Counter(factors).items()
    ]
    if not powers:
        return str(times)
    if len(powers) == 1 and times == 1 and len(factors) == 1:
        return factors[0]
    sign = "-" if times < 0 else ""
    return sign + "*".join([str(abs(times))] * (abs(times) != 1) + powers)


def _factor(text: str) -> str:
    return (
        text
        if text.replace(".", "").replace("[", "").replace("]", "").isidentifier()
        or (text.isdecimal())
        else f"({text})"
    )


def _joined(parts: Iterable[str]) -> str:
    text = ""
    for each in parts:
        if not text:
            text = each
        else:
            text += f" - {each[1:]}" if each.startswith("-") else f" + {each}"
    return text
