"""Loops that are noted so ask for the memory of later iterations, each line of it once."""

from __future__ import annotations

import numpy as np
import pytest

from astile import Schedule
from astile.lower import cpu
from astile.lower.vectors.explicit import Machine

F32 = {"x": "float32", "y": "float32"}


def neighbours(x, y):
    n, m = y.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[i, j] + x[i, j + 1] + x[i + 1, j] + x[i, j + 40]


def in_a_tile(x, y):
    n, m = y.shape
    for i in range(n):
        mine = np.empty(m, np.float32)
        for j in range(m):
            mine[j] = x[i, j] * x[i, j]
        for j in range(m):
            y[i, j] = mine[j] + x[i, j]


def scheduled(function, ahead: object, loop: str = "j") -> Schedule:
    s = Schedule(function)
    s.annotate(loop, "prefetch", ahead)
    for each in s.loops():
        if each.var == "j":
            s.vectorize(each)
    return s


def prefetches(s: Schedule, types: dict[str, str] = F32, width: int = 64) -> list[str]:
    text = cpu.lower(s.program, types=types, machine=Machine(width)).text
    lines = (each.strip() for each in text.splitlines())
    return [each for each in lines if each.startswith("prefetch")]


def test_each_line_of_a_row_is_asked_for_once() -> None:
    assert prefetches(scheduled(neighbours, 64)) == [
        "prefetch(x, (i, j + 64))",
        "prefetch(x, (row, j + 64))",
        "prefetch(x, (i, j + 104))",
    ]


def test_iterations_are_rounded_up_to_whole_vectors() -> None:
    assert prefetches(scheduled(neighbours, 17))[0] == "prefetch(x, (i, j + 32))"
    assert prefetches(scheduled(neighbours, 17), width=16)[0] == "prefetch(x, (i, j + 20))"


def test_a_loop_of_tiles_asks_whole_tiles_ahead() -> None:
    s = Schedule(neighbours)
    j_0, j_1 = s.split("j", [None, 16], tail="guard")
    s.annotate(j_0, "prefetch", 2)
    s.vectorize(j_1)
    found = prefetches(s)
    assert found[0] == "prefetch(x, (i, j_0 * 16 + 32))"


def test_rows_ahead_are_asked_for_by_the_loop_inside_that_loads_them() -> None:
    assert prefetches(scheduled(neighbours, 2, loop="i")) == [
        "prefetch_second(x, (row, j))",
        "prefetch_second(x, (i + 3, j))",
        "prefetch_second(x, (row, j + 40))",
    ]


def test_of_several_loops_the_last_one_that_loads_a_row_asks_for_it() -> None:
    s = scheduled(in_a_tile, 1, loop="i")
    assert prefetches(s) == ["prefetch_second(x, (i + 1, j))"]
    text = cpu.lower(s.program, types=F32, machine=Machine(64)).text
    assert text.index("store(mine") < text.index("prefetch_second(x") < text.index("store(y")


def test_each_of_two_branches_asks_for_its_rows() -> None:
    s = Schedule(neighbours)
    s.specialize("n > 9", "j")
    s.annotate("i", "prefetch", 1)
    for each in s.loops():
        if each.var == "j":
            s.vectorize(each)
    assert [each.partition(", j")[2] for each in prefetches(s)] == ["))", "))", " + 40))"] * 2


def test_arrays_of_the_function_are_near_already() -> None:
    assert prefetches(scheduled(in_a_tile, 64, loop="j#1")) == ["prefetch(x, (i, j + 64))"]


@pytest.mark.parametrize("ahead", [0, -3, True, None, "far", [1, 2]])
def test_other_notes_ask_for_nothing(ahead: object) -> None:
    assert prefetches(scheduled(neighbours, ahead)) == []


@pytest.mark.parametrize("loop", ["i", "j"])
@pytest.mark.parametrize("size", [(0, 5), (1, 1), (3, 15), (2, 16), (3, 17), (2, 71)])
def test_values_are_those_of_the_plain_loops(size: tuple[int, int], loop: str) -> None:
    kernel = scheduled(neighbours, 1000, loop).build("cpu")
    n, m = size
    x = np.random.default_rng(1).standard_normal((n + 1, m + 40)).astype(np.float32)
    found, wanted = np.zeros(size, np.float32), np.zeros(size, np.float32)
    kernel(x, found)
    neighbours(x, wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
