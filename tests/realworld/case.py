"""A function of the kind that people write, and arguments for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from tests.cases.forms import Subject

F = TypeVar("F", bound=Callable[..., Any])

#: Extents: none, one, smaller than a tile, primes.
SIZES = (0, 1, 2, 5, 11)


class Cases(list[Subject]):
    """The functions of one field."""

    def case(
        self,
        make: Callable[[int, np.random.Generator], Sequence[Any]],
        sizes: Sequence[int] = SIZES,
    ) -> Callable[[F], F]:
        """Add a function.

        Args:
            make: extent and generator of random numbers -> arguments.
            sizes: extents, small ones first.
        """

        def add(function: F) -> F:
            def arguments(size: int, seed: int) -> Sequence[Any]:
                return make(size, np.random.default_rng(1000 * size + seed))

            self.append(Subject(function.__name__, function, arguments, sizes))
            return function

        return add
