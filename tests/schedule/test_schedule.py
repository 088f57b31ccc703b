"""Steps: what they hold, how they are refused, undone, copied, and taken on trust."""

import numpy as np
import pytest

from astile.errors import IllegalSchedule, ScheduleError
from astile.schedule.schedule import Schedule


def repeat(A, x, reps):
    for m in range(reps):
        for i in range(len(A) - 1):
            A[i] = A[i + 1] + x


def add(a, b, out):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            out[i, j] = a[i, j] + b[i, j]


def test_a_step_holds_its_call_source_diff_and_proof():
    s = Schedule(add)
    s.split("j", [None, 8])
    (step,) = s.steps
    assert step.call == "split('j', factors=[None, 8])"
    assert step.proof.kind == "equal"
    assert "+        for j_0 in range((m + 7) // 8):" in step.diff
    assert "-        for j in range(m):" in step.diff
    assert step.source == s.source()


def test_an_illegal_step_changes_nothing_and_shows_a_witness():
    s = Schedule(repeat)
    before = s.source()
    with pytest.raises(IllegalSchedule) as caught:
        s.reorder("i", "m")
    error = caught.value
    assert error.array == "A"
    assert error.witness.distance == (1, -1)
    assert error.diagnostic.operation == "reorder('i', 'm')"
    for part in ("i=", "m=", "A[", "(1, -1)"):
        assert part in str(error)
    assert s.steps == ()
    assert s.source() == before


def test_a_step_that_changes_nothing_says_so():
    s = Schedule(add)
    with pytest.raises(ScheduleError) as caught:
        s.reorder("i", "j")
    assert caught.value.code == "schedule.nothing-to-do"


def test_unsafe_is_recorded_and_printed_and_later_steps_are_proved_from_there():
    s = Schedule(repeat)
    s.reorder("i", "m", unsafe=True)
    assert s.steps[-1].proof is None
    assert "# unsafe: reorder('i', 'm', unsafe=True) was not proved" in s.source()
    assert s.split("i", [None, 4])[0].name == "i_0"
    assert s.steps[-1].proof.kind == "equal"
    with pytest.raises(IllegalSchedule):
        s.reorder("m", "i_0")


def test_undo_takes_back_the_last_step():
    s = Schedule(add)
    before = s.source()
    s.split("j", [None, 8])
    s.undo()
    assert s.source() == before
    with pytest.raises(ScheduleError, match="no step to undo"):
        s.undo()


def test_a_copy_goes_on_by_itself():
    s = Schedule(add)
    s.split("j", [None, 8])
    twin = s.copy()
    twin.split("i", [None, 8])
    assert len(s.steps) == 1
    assert len(twin.steps) == 2


def test_source_of_an_unknown_target_is_refused():
    with pytest.raises(ScheduleError) as caught:
        Schedule(add).source("gpu")
    assert caught.value.code == "schedule.bad-target"


def test_the_outline_names_loops_and_stages(capsys):
    Schedule(add).print_loop_nest()
    assert capsys.readouterr().out.splitlines() == [
        "add",
        "    for i in range(n):",
        "        for j in range(m):",
        "            out = ...",
    ]


def test_the_outline_names_scalars_that_loops_set(capsys):
    def means(x, out):
        n, m = x.shape
        for i in range(n):
            total = 0.0
            for j in range(m):
                total += x[i, j]
            out[i] = total / m

    Schedule(means).print_loop_nest()
    assert capsys.readouterr().out.splitlines() == [
        "means",
        "    for i in range(n):",
        "        total = ...",
        "        for j in range(m):",
        "            total = ...",
        "        out = ...",
    ]


def test_a_step_on_an_everyday_kernel_runs_as_plain_python():
    s = Schedule(add)
    s.tile(["i", "j"], [3, 5])
    scope = {}
    exec(s.source(), scope)
    a, b = np.arange(28.0).reshape(4, 7), np.ones((4, 7))
    out = np.zeros((4, 7))
    scope["add"](a, b, out)
    assert (out == a + b).all()
