"""Forms of one kernel for arrays with more axes than the text of the function shows."""

from __future__ import annotations

from collections.abc import Mapping

from astile.forms import Forms


class Ranks:
    """Finds the forms that fit a call: ``A[i] = B[i]`` copies a row where A has two axes.

    Args:
        forms: for arrays with as many axes as they are indexed with.
        function: what they were made from; None where their schedule is for that text only.
    """

    def __init__(self, forms: Forms, function: object | None) -> None:
        self._forms, self._function = forms, function
        self._made: dict[tuple[tuple[str, int], ...], Forms] = {}

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
        if not more or self._function is None:
            return self._forms
        if more not in self._made:
            made = self._forms.of_ranks(self._function, dict(more))
            found = {use.name: use.rank for use in made.uses}
            fits = all(found[name] == rank for name, rank in more)
            self._made[more] = made if fits else self._forms
        return self._made[more]
