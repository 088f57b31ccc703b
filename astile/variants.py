"""Forms of one kernel for arrays that are not as the text of the function suggests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from astile.forms import Forms
from astile.ir import needs, query

#: Parameters and their numbers of axes, and arrays of integers of which sums are taken, and their
#: dtypes.
Key = tuple[tuple[tuple[str, int], ...], tuple[tuple[str, str], ...]]


class Variants:
    """Finds the forms that fit the arrays of a call.

    ``A[i] = B[i]`` copies a row where A has two axes, and sums of integers are no floating-point
    numbers.

    Args:
        forms: for arrays with as many axes as they are indexed with, of which sums are taken in
            floating-point types.
        function: what they were made from; None where their schedule is for that text only.
    """

    def __init__(self, forms: Forms, function: object | None) -> None:
        self._forms, self._function = forms, function
        self._made: dict[Key, Forms] = {}

    def fitting(self, values: Mapping[str, object]) -> Forms:
        """The forms for the arguments of a call; the first ones where no others take them.

        Args:
            values: parameter -> argument, defaults filled in.
        """
        more = tuple(
            (use.name, rank)
            for use in self._forms.uses
            if use.role == "array"
            and use.rank is not None
            and (rank := int(getattr(values.get(use.name), "ndim", 0))) > use.rank
        )
        forms = self._for((more, ())) if more else self._forms
        integers = _summed_integers(forms, values)
        if not integers or needs.are_met(forms.program.needs, values):
            return forms
        found = self._for((more, integers))
        return found if needs.are_met(found.program.needs, values) else forms

    def _for(self, key: Key) -> Forms:
        if self._function is None:
            return self._forms
        if key not in self._made:
            ranks, integers = key
            made = self._forms.like(self._function, dict(ranks), dict(integers))
            fits = all(_is_cell_by_cell(made, name, rank) for name, rank in ranks)
            self._made[key] = made if fits else self._forms
        return self._made[key]


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
