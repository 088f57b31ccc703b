"""Reductions into cells that are not known: their order may change, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from astile.analysis.proof.equivalence import compare
from astile.analysis.proof.verdicts import Proved
from astile.errors import IllegalSchedule
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import load
from tests.support.hints import hinted
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
    "greatest of some": (
        "if weight[y, x] > 2:\n    out[index[y, x], 0] = max(out[index[y, x], 0], weight[y, x])"
    ),
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
    "the cell decides whether it grows": (
        "if out[index[y, x], 0] < 3:\n"
        "    out[index[y, x], 0] = max(out[index[y, x], 0], weight[y, x])"
    ),
    "the last one of some": "if weight[y, x] > 2:\n    out[index[y, x], 0] = weight[y, x]",
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


# --- parts of cells that data pick --------------------------------------------------------------

COUNTED = """
def f(x, y, counts):
    for i in range(x.shape[0]):
        counts[x[i], y[i]] += 1.0
"""
IN_PARTS = """
import numpy as np
def f(x, y, counts):
    n, m = counts.shape
    rf = np.zeros({shape}, counts.dtype)
    {before}
    for i in range(x.shape[0]):
        rf[{cell}] += 1.0  # 0: i
    for k in range({parts}):
        for a in range(n):
            for b in range(m):
                counts[a, b] += rf[{joined}]
    {after}
"""
RIGHT = {
    "shape": "(3, n, m)",
    "before": "pass",
    "cell": "i % 3, x[i], y[i]",
    "parts": "3",
    "joined": "k, a, b",
    "after": "pass",
}
LIKE = [
    {},
    {"shape": "(n, 3, m)", "cell": "x[i], i % 3, y[i]", "joined": "a, k, b"},
    {"shape": "(n, m, 3)", "cell": "x[i], y[i], i % 3", "joined": "a, b, k"},
]
UNLIKE = {
    "another cell": {"cell": "i % 3, x[i], y[i] + 1"},
    "bins swapped": {"cell": "i % 3, y[i], x[i]"},
    "joined to another": {"joined": "k, b, a", "shape": "(3, m, m)"},
    "a part is left out": {"parts": "2"},
    "a part counts twice": {"after": "for a in range(n):\n        counts[a, 0] += rf[1, a, 0]"},
    "a part starts with something": {"before": "rf[0, 0, 0] = counts[0, 0]"},
    "fewer cells": {"shape": "(3, n, m - 1)"},
    "more cells, so that -1 is another": {"shape": "(3, n + 1, m)"},
    "as many cells as there are bins elsewhere": {"shape": "(3, m, n)"},
}


def in_parts(**other: str) -> str:
    return IN_PARTS.format(**{**RIGHT, **other})


def verdict(**other: str) -> object:
    original = program_from("import numpy as np\n" + COUNTED)
    return compare(original, hinted(in_parts(**other)))


@pytest.mark.parametrize("other", LIKE)
def test_parts_of_cells_that_data_pick(other: dict[str, str]) -> None:
    found = verdict(**other)
    assert isinstance(found, Proved)
    assert found.kind == "equal up to reassociation"


@pytest.mark.parametrize("name", UNLIKE)
def test_parts_that_are_not_those_of_the_cells(name: str) -> None:
    assert not isinstance(verdict(**UNLIKE[name]), Proved)


@pytest.mark.parametrize("place", ["before", "after"])
def test_bins_that_change(place: str) -> None:
    new = in_parts(**{place: "x[0] = 1  # 1:"})
    found = compare(program_from("import numpy as np\n" + COUNTED + "    x[0] = 1\n"), hinted(new))
    assert isinstance(found, Proved) == (place == "after")


@pytest.mark.parametrize(
    ("cell", "is_proved"), [("x[i]", True), ("x[i] + y[i]", True), ("counts[0]", False)]
)
def test_parts_of_some_iterations(cell: str, is_proved: bool) -> None:
    original = f"""
def f(x, y, counts):
    for i in range(len(x)):
        if y[i] > 0:
            counts[{cell}] += 1
"""
    new = f"""
import numpy as np
def f(x, y, counts):
    rf = np.zeros((2, counts.shape[0]), counts.dtype)
    for i in range(len(x)):
        if y[i] > 0:  # 0: i
            rf[i % 2, {cell}] += 1
    for k in range(2):
        for c in range(counts.shape[0]):
            counts[c] += rf[k, c]
"""
    assert isinstance(compare(program_from(original), hinted(new)), Proved) == is_proved


def test_a_table_may_be_read_from_a_copy() -> None:
    original = "def f(x, t, y):\n    for i in range(len(y)):\n        y[i] = t[x[i]]\n"
    new = """
import numpy as np
def f(x, t, y):
    near = np.empty({size}, t.dtype)
    for k in range(t.shape[0]):
        near[k] = t[{cell}]
    for i in range(len(y)):
        y[i] = near[x[i]]  # 0: i
"""
    for size, cell, expected in (
        ("t.shape[0]", "k", True),
        ("t.shape[0] + 1", "k", False),
        ("t.shape[0]", "k - 1", False),
    ):
        found = compare(program_from(original), hinted(new.format(size=size, cell=cell)))
        assert isinstance(found, Proved) == expected


def test_an_array_that_is_longer_the_second_time() -> None:
    """What is read of the cells that the first one does not have is not left to chance."""
    original = """
import numpy as np
def f(y):
    t = np.empty(2)
    t[0] = 1
    t = np.zeros(4)
    for i in range(4):
        y[i] = t[i]
"""
    new = """
import numpy as np
def f(y):
    t = np.empty(2)  # 0:
    t[0] = 1  # 1:
    t = np.{}(4)  # 2:
    for i in range(4):
        y[i] = t[i]  # 3: i
"""
    assert isinstance(compare(program_from(original), hinted(new.format("zeros"))), Proved)
    assert not isinstance(compare(program_from(original), hinted(new.format("ones"))), Proved)
