"""Types that are not known before a call, as symbols.

A type is the set of array types that NumPy's promotion joins, and Python's own numbers, which are
weak (NumPy 2, NEP 50). The order in which types are joined matters: ``uint8 * 0.1`` is a float64,
to which a float32 is added, while the three joined at once give a float32. What is joined first
becomes a symbol of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from astile.ir import needs as assumed
from astile.ir.needs import Need

#: Names of array types, and ``int``, ``float``, ``complex``, ``bool`` for Python's numbers.
Type = frozenset[str]

WEAK = ("int", "float", "complex", "bool")
_WIDE = "numpy.float64"
_NUMBERS: Mapping[str, complex] = {"int": 0, "float": 0.0, "complex": 0j}


class JoinedType(str):
    """The symbol of types that are joined before others are: ``(float, like x)``.

    It is its own text, so that equal types are equal texts.
    """

    parts: Type

    @classmethod
    def of(cls, parts: Type) -> JoinedType:
        """The symbol of some types."""
        made = cls(f"({', '.join(sorted(parts))})")
        made.parts = parts
        return made


def grouped(part: Type, strong: Type) -> Type:
    """A part of what is joined, as one symbol where the whole has more types than it.

    Args:
        part: types that are joined first.
        strong: all types, Python's own numbers left out.
    """
    own = strong_of(part)
    if own in (frozenset(), strong) or len(part) == 1:
        return part
    is_floating = len(own) == 1 and all(each.startswith("numpy.float") for each in own)
    if is_floating and part <= own | {"int", "float"}:
        return own  # which such numbers do not change
    return frozenset([JoinedType.of(part)])


class AssumedTypes:
    """What a program assumes of the types of its arguments.

    Args:
        needs: the assumptions.
    """

    def __init__(self, needs: Iterable[Need]) -> None:
        needs = tuple(needs)
        #: Types of arguments that are known before the call.
        self._known = {
            _symbol(each.sources[0]): each.kept[1]
            for each in needs
            if isinstance(each, assumed.JoinedType)
            and len(each.sources) == 1
            and each.kept[0] == "dtype"
        }
        #: The type that others join to, those types, and whether all are floating-point types.
        self._joins = [
            (_symbol(each.kept), frozenset(map(_symbol, each.sources)), each.kinds == "f")
            for each in needs
            if isinstance(each, assumed.JoinedType)
        ]

    def joined(self, types: Type) -> Type:
        """The one type that several are assumed to join to, or all of them.

        A sum that is taken in float64 has that type, whatever floating-point type its parts have.
        """
        if len(types) < 2:
            return types
        for kept, sources, is_floating in self._joins:
            if types <= sources | {kept}:
                return frozenset([kept])
            if is_floating and _WIDE in types and types <= sources | {_WIDE, "int", "float"}:
                return frozenset([_WIDE])
        if not self._known.keys().isdisjoint(types):
            return self._promoted(types)
        return types

    def _promoted(self, types: Type) -> Type:
        """The type that NumPy promotes several to, where all are known."""
        found = [self._known.get(each, each.removeprefix("numpy.")) for each in strong_of(types)]
        if not all(hasattr(np, each) for each in found):
            return types
        numbers = [_NUMBERS[each] for each in types if each in _NUMBERS]
        joined = np.result_type(*(np.dtype(each) for each in found), *numbers)
        return frozenset([f"numpy.{joined.name}"])

    def is_floating(self, types: Type) -> bool:
        """Whether types are assumed to be one floating-point type of 32 or 64 bits."""
        strong = strong_of(types)
        return any(is_floating and strong == {kept} for kept, _, is_floating in self._joins)


def _symbol(source: assumed.Source) -> str:
    kind, name = assumed.sure(source)
    return {"dtype": f"numpy.{name}", "weak": name}.get(kind, f"{kind} {name}")


def strong_of(types: Type) -> Type:
    """The types without Python's own numbers."""
    return types - set(WEAK)
