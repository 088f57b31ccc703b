"""Runs a scheduled program beside the plain function and compares every bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from astile.schedule.schedule import Schedule


def loaded(schedule: Schedule) -> Callable[..., Any]:
    """The scheduled program as CPython runs it."""
    scope: dict[str, Any] = {}
    exec(compile(schedule.source(), "<scheduled>", "exec"), scope)
    return scope[schedule.program.name]


def assert_same(
    schedule: Schedule, plain: Callable[..., Any], calls: Iterable[tuple[Any, ...]]
) -> None:
    """Both give the same arrays and the same returned value for every call."""
    candidate = loaded(schedule)
    for args in calls:
        wanted = [each.copy() if isinstance(each, np.ndarray) else each for each in args]
        got = [each.copy() if isinstance(each, np.ndarray) else each for each in args]
        returned, other = plain(*wanted), candidate(*got)
        for one, two in zip(wanted, got, strict=True):
            np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(returned, other)


def whole(*shape: int, seed: int = 0) -> np.ndarray:
    """Small whole numbers: sums of them are exact in any order."""
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(np.float64)
