"""Reductions into cells that are not known: their order may change, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from astile.errors import IllegalSchedule
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import load
from tests.support.programs import program_from

LOOPS = """
def f(index, weight, out):
    for y in range(index.shape[0]):
        for x in range(index.shape[1]):
            {body}
"""


def schedule(body: str, *, exact: bool = False) -> Schedule:
    text = LOOPS.format(body=body.replace("\n", "\n            "))
    return Schedule(program_from(text), exact=exact)


def arguments() -> tuple[Any, ...]:
    generator = np.random.default_rng(0)
    index = generator.integers(-3, 7, (5, 8))
    return index, generator.integers(1, 9, (5, 8)), generator.integers(0, 4, (9, 2))


LEGAL = {
    "counts": "out[index[y, x], 0] += 1",
    "sums": "out[index[y, x], y % 2] += weight[y, x]",
    "spelled out": "out[index[y, x], 0] = out[index[y, x], 0] + weight[y, x]",
    "greatest": "out[index[y, x], 0] = max(out[index[y, x], 0], weight[y, x])",
    "greatest under a condition": (
        "if weight[y, x] > out[index[y, x], 0]:\n    out[index[y, x], 0] = weight[y, x]"
    ),
    "some only": "if weight[y, x] > 3:\n    out[index[y, x], 0] += weight[y, x]",
    "two cells": "out[index[y, x], 0] += 1\nout[index[y, x] + 1, 0] -= weight[y, x]",
}
ILLEGAL = {
    "the last one": "out[index[y, x], 0] = weight[y, x]",
    "of another cell": "out[index[y, x], 0] = out[index[y, x] + 1, 0] + 1",
    "of another row": "out[index[y, x], 0] = out[index[x, y], 0] + 1",
    "sums of products": "out[index[y, x], 0] += 1\nout[index[y, x], 0] *= 2",
    "read in between": "out[index[y, x], 0] += 1\nweight[y, x] = out[index[y, x], 0]",
    "indices that are counted in": "index[index[y, x] % 5, 0] += 1",
    "the cell decides": "if out[0, 0] > 3:\n    out[index[y, x], 0] += 1",
    "the cell is added to itself": "out[index[y, x], 0] += out[index[y, x], 0]",
}


@pytest.mark.parametrize("name", LEGAL)
def test_the_order_may_change(name: str) -> None:
    s = schedule(LEGAL[name])
    wanted, got = arguments(), arguments()
    load(s.program)(*wanted)
    s.reorder("x", "y")
    load(s.program)(*got)
    for one, other in zip(wanted, got, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("name", ILLEGAL)
def test_the_order_has_to_stay(name: str) -> None:
    with pytest.raises(IllegalSchedule, match="reorder"):
        schedule(ILLEGAL[name]).reorder("x", "y")


def test_the_order_has_to_stay_where_results_are_exact() -> None:
    with pytest.raises(IllegalSchedule, match="reorder"):
        schedule(LEGAL["sums"], exact=True).reorder("x", "y")


def test_iterations_are_not_independent() -> None:
    with pytest.raises(IllegalSchedule, match="may meet on the same cell of out"):
        schedule(LEGAL["counts"]).parallel("y")
