"""What a call computes, counted by its sizes; calls that compute little run on one core."""

from __future__ import annotations

import math

import numpy as np
import pytest

from astile import Schedule, tile
from astile.lower import cpu, work
from astile.runtime import compile as compiling
from tests.support.scheduled import program


def counted(text: str, **sizes: work.Size) -> float:
    made = work.Work(program(text, imports={"np": "numpy"}))
    assert made.operations(sizes) == made.operations(sizes)
    return made.operations(sizes)


ROWS = """
def f(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[i, j] + 1
"""


def test_a_nest_counts_its_iterations() -> None:
    few, many = (counted(ROWS, x=(n, 10), y=(n, 10)) for n in (10, 1000))
    assert few == 10 * (1 + 10 * (1 + 3))
    assert many == 100 * few
    assert counted(ROWS, x=(0, 10), y=(0, 10)) == 0


def test_a_triangle_counts_half() -> None:
    text = (
        "def f(x):\n    for i in range(len(x)):\n        for j in range(i):\n            x[i] += 1"
    )
    assert counted(text, x=(100,)) == 100 * (1 + 50 * 3)


@pytest.mark.parametrize(
    "statement",
    [
        "while x[0] < 1:\n        x[0] += 1",
        "x[:] = x[:] + 1",
        "y = x + x",
        "x[0] = np.sum(x)",
        "for k in range(int(x[0])):\n        x[k] = 1",
        "for a in x:\n        n = 1",
        "y = np.zeros(k)",
        "x[0] = other(x[0])",
    ],
)
def test_what_sizes_do_not_tell_may_take_any_time(statement: str) -> None:
    assert counted(f"def f(x, k):\n    {statement}", x=(3,)) == math.inf


def test_the_longer_branch_and_numbers_count() -> None:
    text = """
def f(x, n):
    m = max(n // 2, 1) - 1
    if n > 3:
        for i in range(m):
            x[i] = 0
    else:
        x[0] = 0
"""
    outside = counted(text, x=(100,), n=2)
    assert counted(text, x=(100,), n=22) == outside - 1 + 10 * 2


def rows(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[i, j] + 1


def test_little_work_runs_on_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "FEW", 1000)
    schedule = Schedule(rows)
    schedule.parallel("i")
    kernel = schedule.build("cpu")
    texts = []
    for n in (3, 100, 4):
        x, y = np.ones((n, 20)), np.zeros((n, 20))
        for _ in range(2):  # the second call is one that passed before
            kernel(x, y)
            assert (y == 2).all()
            y[...] = 0
        texts.append(kernel._repeats.find((x, y)).text)
    assert ["prange" in each for each in texts] == [False, True, False]


def test_a_process_that_has_one_thread_starts_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = Schedule(rows)
    schedule.parallel("i")
    x, y = np.ones((100, 20)), np.zeros((100, 20))
    texts = []
    for threads in (1, 2):
        monkeypatch.setattr(compiling, "most_threads", lambda threads=threads: threads)
        kernel = schedule.build("cpu")
        kernel(x, y)
        assert (y == 2).all()
        y[...] = 0
        texts.append(kernel._repeats.find((x, y)).text)
    assert ["prange" in each for each in texts] == [False, True]


def test_the_first_call_writes_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "FEW", 1000)
    lower, written = cpu.lower, []

    def noted(*arguments, **options):
        made = lower(*arguments, **options)
        written.append("prange" in made.text)
        return made

    monkeypatch.setattr(cpu, "lower", noted)
    schedule = Schedule(rows)
    schedule.parallel("i")
    kernel = schedule.build("cpu")
    for n in (3, 100, 4):
        kernel(np.ones((n, 20)), np.zeros((n, 20)))
    assert written == [False, True]


def test_a_program_without_cores_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "FEW", 1000)
    kernel = tile(schedule=lambda s: None, target="cpu")(rows)
    found = []
    for n in (3, 100):
        x, y = np.ones((n, 20)), np.zeros((n, 20))
        kernel(x, y)
        found.append(kernel._repeats.find((x, y)))
    assert found[0] is found[1]


@pytest.mark.parametrize("stop", ["n * n", "-n * n", "n"])
def test_ranges_longer_than_64_bits_count(stop: str) -> None:
    text = (
        f"def f(x, n):\n    if n < 9:\n        for i in range(-n, {stop}):\n            x[0] += 1"
    )
    trips = max(0, {"n * n": 2**124, "-n * n": -(2**124), "n": 2**62}[stop] + 2**62)
    assert counted(text, x=(1,), n=2**62) == pytest.approx(1 + trips * 3)


def test_a_loop_of_no_call_may_be_longer_than_64_bits() -> None:
    @tile(target="cpu")
    def guarded(x, n):
        if n < 1000:
            for _ in range(n * n):
                x[0] += 1

    x = np.zeros(1)
    guarded(x, 2**40)
    assert x[0] == 0
