"""Bounds on the processor time of steps, far above what they take, and of the emulator.

See `tests.speed`.
"""

from __future__ import annotations

import itertools
import statistics

import numpy as np
import pytest

from astile.analysis.isl import Budget
from astile.analysis.proof.equivalence import Checker
from astile.analysis.proof.verdicts import Proved, Unknown
from astile.analysis.reading.statements import with_origins
from astile.errors import IllegalSchedule
from astile.frontend.build import build
from astile.runtime import emulate
from astile.schedule import recipes
from astile.schedule.prover import Prover
from astile.schedule.schedule import Schedule
from tests.cases import corpus
from tests.speed.measure import conv_add_steps, median, of_program, of_schedule, worst
from tests.support.pace import is_within, slowness
from tests.support.recipes import matmul, matrices

#: Programs of the case corpus of all kinds, few enough for each run of the tests.
PROGRAMS = (
    "conv2d_nchw",
    "hdiff",
    "jacobi_2d",
    "matmul_odd",
    "max_filter",
    "softmax_rows",
    "two_mm",
)


def conv_add(x, w, bias, out):
    H, W = out.shape
    conv = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W):
            acc = np.float32(0)
            for a in range(3):
                for b in range(3):
                    acc += x[i + a, j + b] * w[a, b]
            conv[i, j] = acc
    for i in range(H):
        for j in range(W):
            out[i, j] = conv[i, j] + bias[i, j]


def test_the_steps_of_an_everyday_kernel():
    runs = [conv_add_steps(conv_add) for _ in range(3)]
    for steps in zip(*runs, strict=True):
        middle = statistics.median(each.seconds for each in steps)
        assert middle < 0.3 * slowness(), (steps[0].call, middle)
    assert min(median(steps) for steps in runs) < 0.1 * slowness()


@pytest.mark.skipif(not corpus.programs(), reason="the case corpus is not here")
def test_the_steps_of_the_case_corpus():
    steps = [step for name in PROGRAMS for step in of_program(name)]
    assert len(steps) > 20
    assert median(steps) < 0.15 * slowness()
    assert worst(steps).seconds < 3.0 * slowness(), worst(steps)


def test_a_step_is_refused_when_its_proof_takes_too_long():
    s = Schedule(conv_add, budget_seconds=1e-4)
    with pytest.raises(IllegalSchedule, match=r"not proved within 0.0001 s") as caught:
        s.split("out.i", [None, 16])
    assert caught.value.kind == "unknown"
    assert s.steps == ()
    Schedule(conv_add, budget_seconds=60.0).split("out.i", [None, 16])


def test_a_call_of_several_steps_has_the_time_of_one(monkeypatch):
    """A split, a split and a reorder: the second and third have what is left of the budget."""
    budgets = []
    plain = Prover.prove

    def prove(self, before, known, program, budget):
        budgets.append(budget)
        assert budget.seconds == 60.0
        return plain(self, before, known, program, budget)

    monkeypatch.setattr(Prover, "prove", prove)
    s = Schedule(conv_add, budget_seconds=60.0)
    s.tile(["out.i", "out.j"], [4, 8])
    assert budgets[0] is budgets[1] is budgets[2]
    s.split("a", [None, 2])
    assert budgets[3] is not budgets[0]
    s.steps[2].earlier.split("b", [None, 2])  # what was in the middle of the call goes on by itself
    assert budgets[4] is not budgets[0]


def test_a_proof_ends_when_earlier_ones_used_up_its_budget():
    program = build(conv_add)
    checker = Checker(with_origins(program))
    budget = Budget(0.1)
    for _ in range(500):
        verdict = checker.compare(checker.original, budget=budget)
        if not isinstance(verdict, Proved):
            break
    assert isinstance(verdict, Unknown)
    assert verdict.reason == "not proved within 0.1 s"
    assert isinstance(checker.compare(checker.original, budget=Budget(0.1)), Proved)


def test_what_is_proved_depends_on_no_clock(monkeypatch):
    """The same operations fit into a budget, however long they take."""
    monkeypatch.setattr("time.thread_time", itertools.count(step=1e-9).__next__)
    quick = [_fits(seconds / 100) for seconds in range(1, 12)]
    monkeypatch.setattr("time.thread_time", itertools.count(step=1e-5).__next__)
    assert [_fits(seconds / 100) for seconds in range(1, 12)] == quick
    assert len(set(quick)) == 2


def _fits(seconds: float) -> bool:
    checker = Checker(with_origins(build(conv_add)))
    return isinstance(checker.compare(checker.original, budget=Budget(seconds)), Proved)


def test_the_clock_ends_what_hardly_comes_to_isl(monkeypatch):
    checker = Checker(with_origins(build(conv_add)))
    monkeypatch.setattr("time.thread_time", itertools.count(step=70.0).__next__)
    verdict = checker.compare(checker.original, budget=Budget(60.0))
    assert isinstance(verdict, Unknown)
    assert verdict.reason == "not proved within 60 s"


def test_what_is_measured():
    """Steps that are refused count; trials in search of advice do not."""

    def two() -> None:
        s = Schedule(conv_add)
        s.split("out.i", [None, 4])
        with pytest.raises(IllegalSchedule) as caught:
            s.parallel("a")
        assert str(caught.value)

    steps = of_schedule("conv_add", two)
    assert [each.is_refused for each in steps] == [False, True]
    assert all(0 < each.seconds < 60 for each in steps)
    assert worst(steps) in steps


def test_a_tiled_product_in_the_emulator():
    """128 x 128 x 128 with all checks."""
    s = Schedule(matmul)
    recipes.tiled_matmul(s, tile=(24, 24), depth=24)
    lowered = s.lowered("cuda", dict.fromkeys("ABC", "float32"))
    run = emulate.load(lowered.text, lowered.entry)
    arguments = matrices(128, 128, 128)
    assert is_within(5, lambda: run(*arguments))
