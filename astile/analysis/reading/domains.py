"""Domains, times and cells of statements as isl text."""

from __future__ import annotations

from collections.abc import Mapping

from astile.analysis import isl
from astile.analysis.forms.affine_sets import Quasi, mangled, parameters_in, quotient_of
from astile.analysis.reading.statements import Level, Place

_OUTSIDE = {"<effects>": "E_effects", "<control>": "E_control", "<return>": "E_return"}


def array_name(array: str) -> str:
    """The isl name of an array, scalar, or cell of the outside."""
    return _OUTSIDE.get(array) or f"A_{mangled(array)}"


def tuple_text(name: str, items: tuple[str, ...]) -> str:
    """``S0[v0_i, c0]``."""
    return f"{name}[{', '.join(items)}]"


def time(place: Place, position: int, length: int) -> tuple[str, ...]:
    """When a statement runs: positions and trips from the outside in, padded with zeros.

    Args:
        place: where the statement stands.
        position: its position in the innermost loop.
        length: how many entries there are.
    """
    entries: list[str] = []
    for level in place.levels:
        entries += [str(level.position), order(level)]
    entries.append(str(position))
    return (*entries, *["0"] * (length - len(entries)))


def order(level: Level) -> str:
    """A loop variable as an expression that grows with the trips."""
    return level.dimension if level.step > 0 else f"-{level.dimension}"


class Signs:
    """Tells whether indices are negative, cheaply where it can, by isl where it must.

    Args:
        session: the isl session of the proof.
    """

    def __init__(self, session: isl.Session) -> None:
        self._session = session
        self._known: dict[tuple[tuple[str, ...], str], bool] = {}

    def is_never_negative(self, index: Quasi, place: Place) -> bool:
        """Whether an index is at least 0 whenever the statement runs."""
        low = lowest(index, lows(place))
        if low is not None and low >= 0:
            return True
        return self.never(f"{index.text} < 0", place)

    def never(self, text: str, place: Place) -> bool:
        """Whether a formula never holds when the statement runs."""
        key = (place.constraints, text)
        if key not in self._known:
            self._known[key] = bool(self.instances(text, place).is_empty())
        return self._known[key]

    def instances(self, text: str, place: Place) -> isl.Set:
        """The iterations of a place for which a formula holds."""
        texts = [*place.constraints, text]
        parameters = sorted(parameters_in(texts))
        condition = " and ".join([*sizes(parameters), *texts])
        names = ", ".join(place.dimensions)
        return self._session.set(f"[{', '.join(parameters)}] -> {{ [{names}] : {condition} }}")


def sizes(parameters: list[str]) -> list[str]:
    """What is known of parameters: extents are not negative, and quotients are rounded down."""
    known: list[str] = []
    for each in parameters:
        quotient = quotient_of(each)
        if quotient is not None:
            divisor, divided = quotient
            known.append(f"{divisor}*{each} <= {divided} < {divisor}*{each} + {divisor}")
        elif not each.startswith("n_"):
            known.append(f"{each} >= 0")
    return known


def lows(place: Place) -> dict[str, int]:
    """Lower bounds of loop variables, where constants bound them."""
    found: dict[str, int] = {}
    above = highs(place)
    for level in place.levels:
        first = level.start if level.step > 0 else level.stop.plus(Quasi({}, 1))
        low = lowest(first, found, above)
        if low is not None:
            found[level.dimension] = low
    return found


def highs(place: Place) -> dict[str, int]:
    """Upper bounds of loop variables that run to a constant."""
    found: dict[str, int] = {}
    for level in place.levels:
        last = level.stop.plus(Quasi({}, -1)) if level.step > 0 else level.start
        if last.value is not None:
            found[level.dimension] = last.value
    return found


def lowest(
    form: Quasi, known: Mapping[str, int], above: Mapping[str, int] | None = None
) -> int | None:
    """A constant lower bound of a form, or None.

    Args:
        form: what to bound.
        known: lower bounds of atoms; extents and remainders are never negative.
        above: upper bounds of atoms.
    """
    total = form.constant
    for atom, coefficient in form.terms.items():
        if coefficient < 0:
            bound = (above or {}).get(atom)
        else:
            bound = known.get(atom, 0 if atom[0] in "s(" else None)
        if bound is None:
            return None
        total += coefficient * bound
    return total
