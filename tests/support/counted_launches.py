"""Schedules run in the emulator, and what their launches did, counted."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import numpy as np

from astile.runtime import emulate
from astile.runtime.emulate import EmulationReport
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import load


def counted(schedule: Schedule, arguments: Sequence[object]) -> EmulationReport:
    """Run the CUDA text of a schedule; its values are those of the plain function."""
    plain = load(schedule.original)
    names = inspect.signature(plain).parameters
    types = {
        name: each.dtype.name
        for name, each in zip(names, arguments, strict=True)
        if isinstance(each, np.ndarray)
    }
    expected = [np.copy(each) if isinstance(each, np.ndarray) else each for each in arguments]
    plain(*expected)
    lowered = schedule.lowered("cuda", types)
    report = EmulationReport()
    emulate.load(lowered.text, lowered.entry, report=report)(*arguments)
    for left, right in zip(expected, arguments, strict=True):
        if isinstance(left, np.ndarray):
            np.testing.assert_allclose(right, left, rtol=1e-5, atol=1e-6)
    return report
