"""Steps that are taken where they are legal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from astile.errors import ScheduleError
from astile.schedule.steps import Steps


def attempt(step: Callable[..., object], *arguments: object) -> bool:
    """Whether a step was legal; an illegal one leaves the schedule as it was.

    Args:
        step: a primitive of a schedule, or a function of one that takes several.
        *arguments: what it takes.
    """
    asked = (getattr(step, "__self__", None), *arguments)
    schedule = next((each for each in asked if isinstance(each, Steps)), None)
    silent = contextlib.nullcontext() if schedule is None else schedule.without_reasons()
    try:
        with silent:
            step(*arguments)
    except ScheduleError:
        return False
    return True
