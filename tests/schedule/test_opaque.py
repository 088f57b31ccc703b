"""A statement that is not modelled stays as it is, and costs nothing of what stands around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from astile.kernel import Kernel
from astile.schedule.schedule import Schedule


def a_while(x, marks, y, z, out):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = 2.0 * x[i, j]
    k = 0
    while k < len(marks) and marks[k] >= 0:
        z[marks[k]] += 1.0
        k += 1
    for i in range(n):
        for j in range(m):
            out[i, j] = y[i, j] + z[j]


def a_loop_that_is_left(x, marks, y, z, out):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = 2.0 * x[i, j]
    for k in range(len(marks)):
        if marks[k] < 0:
            break
        z[marks[k]] += 1.0
    for i in range(n):
        for j in range(m):
            out[i, j] = y[i, j] + z[j]


def a_scatter(x, marks, y, z, out):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = 2.0 * x[i, j]
    for k in range(len(marks)):
        z[abs(marks[k])] = k
    for i in range(n):
        for j in range(m):
            out[i, j] = y[i, j] + z[j]


def a_call_on_whole_arrays(x, marks, y, z, out):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = 2.0 * x[i, j]
    z[:] = np.sort(x[0])
    for i in range(n):
        for j in range(m):
            out[i, j] = y[i, j] + z[j]


def a_step_that_is_not_known(x, marks, y, z, out):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = 2.0 * x[i, j]
    for k in range(0, m, max(marks[0], 1)):
        z[k] -= 1.0
    for i in range(n):
        for j in range(m):
            out[i, j] = y[i, j] + z[j]


def a_decision_on_data(x, marks, y, z, out):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = 2.0 * x[i, j]
    if x[0, 0] > 0.5:
        for k in range(m):
            z[k] += x[0, k]
    else:
        z[0] = 7.0
    for i in range(n):
        for j in range(m):
            out[i, j] = y[i, j] + z[j]


OPAQUE = [
    a_while,
    a_loop_that_is_left,
    a_scatter,
    a_call_on_whole_arrays,
    a_step_that_is_not_known,
    a_decision_on_data,
]


def arguments(n: int, m: int) -> tuple[Any, ...]:
    g = np.random.default_rng(n * m)
    marks = np.array([m - 1, 0, 1, -1, 0])
    return g.random((n, m)), marks, np.zeros((n, m)), g.random(m), np.zeros((n, m))


def tiled(function: Callable[..., Any]) -> Schedule:
    """The last nest in tiles, and the first one run for one tile at a time."""
    schedule = Schedule(function, scratch=("y",))
    i, j = schedule.loops("out")[:2]
    made = schedule.tile([i, j], [4, 3])
    schedule.compute_at("y", made[1])
    return schedule


@pytest.mark.parametrize(
    ("function", "target"),
    [*((each, "python") for each in OPAQUE), (a_while, "cpu"), (a_scatter, "cpu")],
)
def test_nests_around_it_are_tiled_and_interleaved(function, target):
    schedule = tiled(function)
    assert [step.proof.kind for step in schedule.steps if step.proof] == ["equal"] * len(
        schedule.steps
    )
    kernel = Kernel.of_schedule(schedule, target)
    for sizes in ((1, 2), (5, 7), (8, 6), (9, 4)):
        wanted, found = arguments(*sizes), arguments(*sizes)
        function(*wanted)
        kernel(*found)
        np.testing.assert_array_equal(found[3], wanted[3])
        np.testing.assert_array_equal(found[4], wanted[4])
