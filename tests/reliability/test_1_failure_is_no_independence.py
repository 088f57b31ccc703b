"""A proof that fails, or runs out of time, refuses; it is never taken as "independent"."""

import pytest

from astile.analysis import isl
from astile.analysis.equivalence import Checker
from astile.analysis.verdicts import Unknown
from astile.errors import IllegalSchedule
from astile.schedule.schedule import Schedule


def add(a, b, out):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            out[i, j] = a[i, j] + b[i, j]


def test_an_error_of_isl_refuses_the_step(monkeypatch):
    def broken(*_args, **_kwargs):
        raise isl.Error("injected")

    s = Schedule(add)
    monkeypatch.setattr(isl, "flow", broken)
    with pytest.raises(IllegalSchedule, match="not proved") as caught:
        s.split("i", [None, 4])
    assert caught.value.kind == "unknown"
    assert s.steps == ()


def test_an_error_of_isl_refuses_a_parallel_loop(monkeypatch):
    s = Schedule(add)
    s.split("i", [None, 4])

    def broken(*_args, **_kwargs):
        raise isl.Error("injected")

    monkeypatch.setattr("astile.analysis.scene.Scene.cells", broken)
    with pytest.raises(IllegalSchedule) as caught:
        s.parallel("i_0")
    assert caught.value.kind == "unknown"


def test_a_proof_without_time_is_unknown():
    s = Schedule(add)
    s.split("i", [None, 4])
    verdict = Checker(s.original).compare(s.program, budget_seconds=0.0)
    assert isinstance(verdict, Unknown)
    assert "not proved within" in verdict.reason


def test_an_unknown_function_is_not_taken_as_pure():
    def shuffled(x, y, f):
        for i in range(len(x)):
            y[i] = x[i]
        for k in range(len(x)):
            x[k] = y[k] * 2.0

    s = Schedule(shuffled)
    with pytest.raises(IllegalSchedule):
        s.reverse_compute_at("x", "i", index=0)
