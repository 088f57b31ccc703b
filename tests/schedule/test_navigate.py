"""Finding loops and stages, and handles over the steps of a schedule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile import from_source
from astile.errors import ScheduleError
from astile.ir.stages import Stage
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import load


def chain(x, out):
    n, m = x.shape
    a = np.empty((n, m), np.float64)
    b = np.empty((n, m), np.float64)
    for i in range(n):
        for j in range(m):
            a[i, j] = x[i, j] * 2.0
    for i in range(n):
        for k in range(m):
            b[i, k] = a[i, k] + 1.0
    for i in range(n):
        top = 0.0
        for r in range(m):
            top = max(top, b[i, r])
        for q in range(m):
            if x[i, q] > 4:
                out[i, q] = b[i, q] - top


def names(found: tuple[object, ...]) -> list[str]:
    return [each.name for each in found]  # type: ignore[attr-defined]


@pytest.fixture
def s() -> Schedule:
    return Schedule(chain)


# --- producers and consumers --------------------------------------------------------------------


def test_producers_write_what_a_stage_reads(s: Schedule) -> None:
    assert names(s.producers("b"))[-1:] == ["a"]
    assert names(s.producers("top")) == ["m", "n", "b"]
    assert names(s.producers("out")) == ["m", "n", "b", "top"]


def test_consumers_read_what_a_stage_writes(s: Schedule) -> None:
    assert names(s.consumers("a")) == ["b"]
    assert names(s.consumers("top")) == ["out"]
    assert s.consumers("out") == ()


def test_a_loop_stands_for_all_in_it(s: Schedule) -> None:
    assert names(s.consumers("r")) == ["out"]
    assert "b" in names(s.producers(s.loops("out")[0]))


def test_a_cell_that_is_stored_is_not_read() -> None:
    def twice(x, y):
        for i in range(len(x)):
            y[i] = 0.0
        for k in range(len(x)):
            y[k] += x[k]

    s = Schedule(twice)
    assert s.producers("y#0") == ()
    assert names(s.producers("y#1")) == ["y#0"]


# --- finding ------------------------------------------------------------------------------------


def test_by_variable(s: Schedule) -> None:
    assert names(s.find("i")) == ["i#0", "i#1", "i#2"]
    assert names(s.find("k")) == ["k"]


def test_by_array(s: Schedule) -> None:
    [found] = s.find("b")
    assert isinstance(found, Stage)
    assert found.array == "b"


def test_by_a_part_of_a_statement(s: Schedule) -> None:
    assert names(s.find("a[i,k]+1.0")) == ["b"]
    assert names(s.find("* 2.0")) == ["a"]
    assert names(s.find("b[i,")) == ["b", "top", "out"]


@pytest.mark.parametrize("text", ["c", "x[i, k]", "", " "])
def test_nothing_of_the_kind(s: Schedule, text: str) -> None:
    with pytest.raises(ScheduleError, match="no loop, no array and no statement") as caught:
        s.find(text)
    assert "stages here:" in str(caught.value)


def test_what_is_found_can_be_scheduled(s: Schedule) -> None:
    [k] = s.find("k")
    assert not isinstance(k, Stage)
    assert names(s.split(k, [None, 4])) == ["k_0", "k_1"]


# --- handles over later steps -------------------------------------------------------------------


def test_handles_survive_steps_around_them(s: Schedule) -> None:
    i, k = s.loops("b")
    k_0, k_1 = s.split(k, [None, 8])
    s.reorder(k_0, i)
    s.compute_inline("a")
    s.parallel(k_0)
    assert [each.var for each in s.loops("b")] == ["k_0", "i", "k_1"]
    assert s.loops("b") == (k_0, i, k_1)
    assert names(k_1.stages) == ["b"]


GONE: list[tuple[str, str, Callable[[Schedule], object]]] = [
    ("k", "`split` replaced k by k_0, k_1", lambda s: s.split("k", [None, 4])),
    ("k", "`fuse`", lambda s: s.fuse("b.i", "k")),
    ("k", "`merge` put its body into the loop over j", lambda s: _merged(s)),
    ("j", "`compute_inline`", lambda s: s.compute_inline("a")),
]


def _merged(s: Schedule) -> None:
    s.merge("a.i", "b.i")
    s.merge("j", "k")


@pytest.mark.parametrize(("name", "went", "step"), GONE, ids=lambda each: str(each)[:12])
def test_a_handle_says_where_its_loop_went(
    s: Schedule, name: str, went: str, step: Callable[[Schedule], object]
) -> None:
    [handle] = s.find(name)
    assert not isinstance(handle, Stage)
    step(s)
    assert repr(handle) == "<Loop gone>"
    with pytest.raises(ScheduleError, match="this loop is gone") as caught:
        s.unroll(handle)
    assert went in str(caught.value)
    for ask in (lambda: handle.var, lambda: handle.name, lambda: handle.stages):
        with pytest.raises(ScheduleError, match="this loop is gone"):
            ask()


def test_a_handle_of_an_undone_step_is_not_that_of_another_loop(s: Schedule) -> None:
    k_0, _ = s.split("k", [None, 4])
    s.undo()
    r_0, _ = s.split("r", [None, 4])
    assert k_0 != r_0
    with pytest.raises(ScheduleError, match="this loop is gone"):
        s.unroll(k_0)
    assert names(s.split("k", [None, 4])) == ["k_0", "k_1"]


# --- copies -------------------------------------------------------------------------------------


def test_handles_from_before_a_copy_work_on_both(s: Schedule) -> None:
    _, k_1 = s.split("k", [None, 4])
    twin = s.copy()
    twin.unroll(k_1)
    assert "unroll(4)" in twin.source()
    s.vectorize(k_1)
    assert "vector(4)" in s.source()


def test_handles_from_after_a_copy_are_of_one_schedule(s: Schedule) -> None:
    twin = s.copy()
    k_0, _ = s.split("k", [None, 4])
    twin.split("r", [None, 4])
    for one, other in ((twin, k_0), (s, twin.loops("top")[1]), (Schedule(chain), s.loops()[0])):
        with pytest.raises(ScheduleError) as caught:
            one.unroll(other)
        assert caught.value.code == "schedule.foreign-loop"
        assert "find it by name" in str(caught.value)


# --- a printed step -----------------------------------------------------------------------------


def test_a_printed_step_can_be_edited_and_scheduled_on(s: Schedule) -> None:
    s.split("k", [None, 4])
    i_0, _ = s.split("out.i", [None, 2])
    s.parallel(i_0)
    edited = s.source().replace("* 2.0", "* 3.0").replace("range(4)", "unroll(4)")
    edited = edited.replace("import parallel", "import parallel, unroll")
    again = Schedule(from_source(edited, "chain"))
    again.compute_inline("a")
    again.vectorize("q")
    x, out = np.arange(35.0).reshape(5, 7), np.zeros((5, 7))
    load(again.program)(x, out)
    b = x * 3.0 + 1.0
    top = np.maximum(b.max(1, keepdims=True), 0)
    expected = np.where(x > 4, b - top, 0)
    assert (out == expected).all()
