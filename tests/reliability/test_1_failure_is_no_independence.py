"""A proof that fails, or runs out of time, refuses; it is never taken as "independent"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile.analysis import isl
from astile.analysis.proof.equivalence import Checker
from astile.analysis.proof.verdicts import Proved, Unknown
from astile.errors import AstileError, IllegalSchedule
from astile.frontend.build import build
from astile.schedule.schedule import Schedule
from tests.faults.operators import OPERATORS
from tests.faults.scenarios import SCENARIOS
from tests.faults.test_planted_faults import changes_the_meaning, scheduled
from tests.reliability.running import assert_same, whole
from tests.support.isl_faults import watched


def add(a, b, out):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            out[i, j] = a[i, j] + b[i, j]


def total(a, b, out):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            out[0, 0] += a[i, j] * b[i, j]


def staged(a, b, out):
    n, m = a.shape
    t = np.empty((n, m), np.float64)
    for i in range(n):
        for j in range(m):
            t[i, j] = a[i, j] + b[i, j]
    for k in range(n):
        for l in range(m):  # noqa: E741
            out[k, l] = t[k, l] * 2.0


def diagonal(a, b, out):
    n, m = a.shape
    for i in range(1, n):
        for j in range(m - 1):
            out[i, j] = out[i - 1, j + 1] + a[i, j]


def overwritten(a, b, out):
    n = len(a)
    for i in range(1, n):
        out[i, 0] = a[i - 1, 0] + a[i, 0]
    for k in range(1, n):
        a[k, 0] = out[k, 0] * 2.0


Step = Callable[[Schedule], object]


def _compute_at(s: Schedule) -> None:
    s.compute_at("t", "k")


LEGAL: tuple[tuple[Callable[..., None], Step], ...] = (
    (add, lambda s: s.split("i", [None, 4])),
    (add, lambda s: s.parallel("i")),
    (add, lambda s: s.bind("j", "threadIdx.x")),
    (total, lambda s: s.reorder("j", "i")),
    (staged, _compute_at),
)
ILLEGAL: tuple[tuple[Callable[..., None], Step], ...] = (
    (diagonal, lambda s: s.reorder("j", "i")),
    (diagonal, lambda s: s.parallel("i")),
    (total, lambda s: s.vectorize("j")),
    (overwritten, lambda s: s.compute_at("out", "k")),
    (overwritten, lambda s: s.merge("i", "k")),
)


@pytest.mark.parametrize("case", range(len(LEGAL)))
def test_a_failed_call_of_isl_refuses_a_legal_step_or_does_not_matter(case):
    function, step = LEGAL[case]
    program = build(function)
    with watched() as calls:
        step(Schedule(program))
    kinds = []
    places = calls.places()[case % 2 :: 2]
    for place in places:
        s = Schedule(program)
        try:
            with watched(place) as trial:
                step(s)
        except IllegalSchedule as error:
            kinds.append(error.kind)
            assert s.steps == ()
            continue
        assert trial.failed, place
        assert_same(s, function, [tuple(whole(3, 5, seed=k) for k in range(3))])
    assert set(kinds) == {"unknown"}
    assert len(kinds) > len(places) / 2


@pytest.mark.parametrize("case", range(len(ILLEGAL)))
def test_no_failed_call_of_isl_lets_an_illegal_step_pass(case):
    function, step = ILLEGAL[case]
    program = build(function)
    with watched() as calls, pytest.raises(IllegalSchedule):
        step(Schedule(program))
    for place in calls.places()[case % 2 :: 2]:
        s = Schedule(program)
        with watched(place), pytest.raises(AstileError):
            step(s)
        assert s.steps == (), place


@pytest.mark.parametrize("operator", OPERATORS[::3], ids=lambda each: each.__name__)
def test_no_failed_call_of_isl_hides_a_planted_fault(operator):
    scenario = SCENARIOS[1]
    schedule = scheduled(scenario)
    faults = operator(schedule.program)
    fault = next((each for each in faults if changes_the_meaning(scenario, each)), None)
    assert fault is not None
    with watched() as calls:
        assert not isinstance(Checker(schedule.original).compare(fault), Proved)
    for place in calls.places()[::4]:
        with watched(place):
            verdict = Checker(schedule.original).compare(fault)
        assert not isinstance(verdict, Proved), place


@pytest.mark.parametrize("operations", [1, 30, 300, 1000, 3000])
def test_operations_that_run_out_inside_isl_refuse(operations):
    s = Schedule(add)
    s.split("i", [None, 4])
    checker = Checker(s.original)
    checker.session.begin = lambda _: checker.session.context.set_max_operations(operations)
    verdict = checker.compare(s.program)
    assert isinstance(verdict, Unknown)
    assert "not proved within" in verdict.reason


def test_a_proof_without_time_is_unknown():
    s = Schedule(add)
    s.split("i", [None, 4])
    verdict = Checker(s.original).compare(s.program, budget=isl.Budget(0.0))
    assert isinstance(verdict, Unknown)
    assert "not proved within" in verdict.reason


def test_an_error_of_isl_is_what_is_injected():
    with watched(("Set.read_from_str", 1)), pytest.raises(isl.Error):
        isl.Session().set("{ [0] }")
    isl.Session().set("{ [0] }")


def test_an_unknown_function_is_not_taken_as_pure():
    def shuffled(x, y, f):
        for i in range(len(x)):
            y[i] = x[i]
        for k in range(len(x)):
            x[k] = y[k] * 2.0

    s = Schedule(shuffled)
    with pytest.raises(IllegalSchedule):
        s.reverse_compute_at("x", "i", index=0)
