"""Runs scheduled programs compiled for the CPU against what the plain function gave."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from astile.errors import ArgumentError, AstileError, LoweringError
from astile.schedule.schedule import Schedule
from tests.fuzz import running
from tests.fuzz.programs import Source
from tests.fuzz.running import Outcome


def failure(
    schedule: Schedule, source: Source, outcomes: Mapping[tuple[int, int], Outcome]
) -> str | None:
    """What the compiled program does otherwise than the plain one; None where it does the same.

    Args:
        schedule: the program and its steps.
        source: the plain program.
        outcomes: size -> what the plain program leaves behind; each of them is compared. Programs
            whose types the data choose may be refused.
    """
    try:
        kernel = schedule.build("cpu")
        for size, wanted in outcomes.items():
            found = _at(kernel, source, size, wanted)
            if found is not None:
                return f"n, m = {size}: {found}"
    except LoweringError as error:
        return None if error.code == "lowering.types" else f"{error}"
    except AstileError as error:
        return f"{type(error).__name__}: {error}"
    except Exception as error:  # numba has many
        return f"{type(error).__name__}: {error}"
    return None


def _at(kernel: object, source: Source, size: tuple[int, int], wanted: Outcome) -> str | None:
    assert callable(kernel)
    given = {
        name: np.array(value) if isinstance(value, np.ndarray) else value
        for name, value in running.arguments(source, *size).items()
    }
    try:
        returned = kernel(**given)
    except ArgumentError:
        if wanted.negative:  # an index that counts from the end may be refused
            return None
        raise
    arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    return running.difference(wanted, Outcome(arrays, returned, frozenset()), source.scratch)
