"""Forms of one kernel for arrays that are not as the text of the function suggests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from astile import lower
from astile.forms import Forms
from astile.frontend.decided import Fact, compared, facts_of
from astile.frontend.evidence import index_counts
from astile.ir import needs, query
from astile.lower.parameters.uses import Use

if TYPE_CHECKING:
    from astile.lower.parameters.assumed import Dtypes

#: Parameters and their numbers of axes; arrays of integers of which sums are taken, and their
#: dtypes; parameters and which strings they are, or that they are None.
Key = tuple[tuple[tuple[str, int], ...], tuple[tuple[str, str], ...], tuple[tuple[str, Fact], ...]]


class Variants:
    """Finds the forms that fit the arrays of a call.

    ``A[i] = B[i]`` copies a row where A has two axes, ``A[:] = 2 * B`` computes with an array
    where B is one, and sums of integers are no floating-point numbers. What is done where an
    argument is None needs no place where it is given.

    Args:
        forms: for arrays with as many axes as they are indexed with, of which sums are taken in
            floating-point types.
        function: what they were made from; None where their schedule is for that text only.
    """

    def __init__(self, forms: Forms, function: object | None) -> None:
        self._forms, self._function = forms, function
        self._made: dict[Key, Forms] = {}
        self._compared = compared(forms.program.function)

    def fitting(self, values: Mapping[str, object]) -> Forms:
        """The forms for the arguments of a call; the first ones where no others take them.

        Args:
            values: parameter -> argument, defaults filled in.
        """
        facts = facts_of(self._compared, values)
        base = self._for(((), (), facts)) if facts else self._forms
        more = _ranks(base, values)
        forms = self._for((more, (), facts)) if more else base
        if _computes_with_arrays(forms, values):
            return forms.without_steps
        integers = _summed_integers(forms, values)
        if not integers or needs.are_met(forms.program.needs, values):
            return forms
        found = self._for((more, integers, facts))
        return found if needs.are_met(found.program.needs, values) else forms

    def fitting_types(self, dtypes: Dtypes | None) -> Forms:
        """The forms for arrays of some types, with as many axes as they are indexed with.

        Args:
            dtypes: parameter -> its dtype, where it is named.

        Raises:
            ArgumentError: for names that are no parameters, and types that they cannot have.
        """
        forms = self._forms
        expected = lower.parameters.expected
        types = lower.parameters.assumed.types(forms.program, forms.uses, dtypes or {})
        integers = _summed_integers(forms, expected.stand_ins(types))
        if not integers or expected.fits(forms.program, types):
            return forms
        found = self._for(((), integers, ()))
        return found if expected.fits(found.program, types) else forms

    def _for(self, key: Key) -> Forms:
        if self._function is None:
            return self._forms
        if key not in self._made:
            ranks, integers, facts = key
            made = self._forms.like(self._function, dict(ranks), dict(integers), facts)
            base = self._for(((), (), facts)) if ranks and facts else self._forms
            known = {use.name: use.rank for use in base.uses if use.role == "array"}
            fits = all(
                _is_cell_by_cell(made, name, rank)
                for name, rank in ranks
                if known.get(name) not in (None, rank)
            )
            made = made if fits else base
            self._made[key] = made if made.takes_schedule else made.without_steps
        return self._made[key]


def _ranks(forms: Forms, values: Mapping[str, object]) -> tuple[tuple[str, int], ...]:
    """Arrays and their numbers of axes, where the text alone does not show them."""
    ranks = {use.name: _axes(values.get(use.name)) for use in forms.uses}
    if any(ranks[use.name] for use in forms.uses if use.operand or use.reduced):
        return tuple((name, rank) for name, rank in ranks.items() if rank)
    return tuple(
        (use.name, ranks[use.name])
        for use in forms.uses
        if use.role == "array" and ranks[use.name] > _least(forms, use)
    )


def _least(forms: Forms, use: Use) -> int:
    """How many axes the text shows at least."""
    if use.rank is not None:
        return use.rank
    return index_counts(forms.program.function).get(use.name, 0)


def _axes(value: object) -> int:
    return int(getattr(value, "ndim", 0))


def _computes_with_arrays(forms: Forms, values: Mapping[str, object]) -> bool:
    """Whether arithmetic takes some array as a whole, where the analysis takes it for a number."""
    return any(use.operand and _axes(values.get(use.name)) for use in forms.uses)


def _is_cell_by_cell(forms: Forms, array: str, rank: int) -> bool:
    """Whether all accesses of an array have an index for each axis."""
    accesses = query.accesses(forms.program.function)
    return all(
        len(query.indices(each)) == rank for each in accesses if query.base_name(each) == array
    )


def _summed_integers(forms: Forms, values: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """The arrays of integers among those that a program sums as floating-point numbers."""
    sources = {
        source
        for need in forms.program.needs
        if isinstance(need, needs.JoinedType)
        for source in need.sources
    }
    dtypes = {n: getattr(values.get(n), "dtype", None) for kind, n in sources if kind == "like"}
    return tuple(
        (name, dtype.name)
        for name, dtype in sorted(dtypes.items())
        if isinstance(dtype, np.dtype) and dtype.kind in "biu"
    )
