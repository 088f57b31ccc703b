"""What every recipe has in common: it takes all of its steps, or none."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from astile import frames
from astile.schedule import several
from astile.schedule.schedule import Schedule

P = ParamSpec("P")
R = TypeVar("R")


def recipe(
    function: Callable[Concatenate[Schedule, P], R],
) -> Callable[Concatenate[Schedule, P], R]:
    """A function of a schedule that leaves it as it was when one of its steps is refused.

    What is refused is told without the frames below, as of a primitive. The next process finds all
    of the steps at once.

    Args:
        function: applies primitives to the schedule it is given.
    """

    @functools.wraps(function)
    def call(s: Schedule, /, *args: P.args, **kwargs: P.kwargs) -> R:
        def take() -> R:
            with s.all_or_nothing():
                return function(s, *args, **kwargs)

        return several.taken(s, f"recipes.{function.__name__}", args, kwargs, take)

    return frames.entry(call)
