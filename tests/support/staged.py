"""Schedules that are bound to blocks and threads, run by the emulator and by plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from astile.ir import query
from astile.runtime import emulate
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import load


def cuda_text(schedule: Schedule, arguments: Sequence[object]) -> str:
    """The CUDA text for arguments of these types."""
    return schedule.lowered("cuda", dict(_types(schedule, arguments))).text


def _types(schedule: Schedule, arguments: Sequence[object]) -> tuple[tuple[str, str], ...]:
    """The arrays among arguments, and the types of their cells."""
    names = query.parameters(schedule.original.function)
    return tuple(
        (name, each.dtype.name)
        for name, each in zip(names, arguments, strict=True)
        if isinstance(each, np.ndarray)
    )


def assert_emulates(
    schedule: Schedule, arguments: Callable[..., tuple[object, ...]], at: Iterable[object]
) -> None:
    """Run the CUDA text and the original at several sizes; integers must be equal.

    Floats may differ by what the order of a sum makes.
    """
    plain = load(schedule.original)
    made: dict[tuple[tuple[str, str], ...], Callable[..., object]] = {}
    for size in at:
        sizes = size if isinstance(size, tuple) else (size,)
        one, other = arguments(*sizes), arguments(*sizes)
        types = _types(schedule, one)
        if types not in made:
            lowered = schedule.lowered("cuda", dict(types))
            made[types] = emulate.load(lowered.text, lowered.entry)
        with np.errstate(all="ignore"):
            plain(*one)
        made[types](*other)
        for left, right in zip(one, other, strict=True):
            if isinstance(left, np.ndarray):
                np.testing.assert_allclose(right, left, rtol=1e-5, err_msg=f"at size {size}")


def bind_threads(schedule: Schedule, axes: dict[str, str]) -> None:
    """Bind every loop over one of some variables."""
    for loop in schedule.loops():
        if loop.var in axes:
            schedule.bind(loop, axes[loop.var])
