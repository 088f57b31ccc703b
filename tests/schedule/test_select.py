"""Names that users give find loops and stages, or say what there is."""

import numpy as np
import pytest

from astile.errors import ScheduleError
from astile.schedule.schedule import Schedule


def two_nests(x, out):
    n, m = x.shape
    tmp = np.empty((n, m), np.float64)
    for i in range(n):
        for j in range(m):
            tmp[i, j] = x[i, j] * 2.0
    for i in range(n):
        for k in range(m):
            out[i, k] = tmp[i, k] + 1.0


@pytest.fixture
def s():
    return Schedule(two_nests)


def test_a_unique_variable_names_its_loop(s):
    assert s.loops("out")[1].name == "k"
    assert s.split("k", [None, 4])[0].name == "k_0"


def test_numbers_count_loops_of_one_variable(s):
    assert [each.name for each in s.loops()] == ["i#0", "j", "i#1", "k"]
    assert s.split("i#1", [None, 4])[0] in s.loops("out")


def test_a_stage_qualifies_a_loop(s):
    assert s.split("tmp.i", [None, 4])[0] in s.loops("tmp")


def test_handles_work_where_names_do(s):
    i, k = s.loops("out")
    assert s.split(i, [None, 4])[0].var == "i_0"
    assert k.stages[0].name == "out"


def test_line_is_that_of_the_users_file(s):
    first = two_nests.__code__.co_firstlineno
    assert [each.line for each in s.loops()] == [first + 3, first + 4, first + 6, first + 7]


def test_an_ambiguous_name_lists_what_to_write(s):
    with pytest.raises(ScheduleError) as caught:
        s.split("i", [None, 4])
    assert caught.value.code == "schedule.ambiguous-loop"
    assert "'tmp.i' or 'out.i'" in str(caught.value)


def test_an_ambiguous_name_names_each_loop_once():
    def f(x, y):
        for i in range(4):
            x[i] = 0.0
        for i in range(4):
            t = x[i] + 1.0
            y[i] = t

    with pytest.raises(ScheduleError, match=r"write 'x\.i' or 'y\.i'$"):
        Schedule(f).split("i", [None, 4])


@pytest.mark.parametrize("wanted", ["kk", "out.j", "i#2", "i#x", "nothing.i", ""])
def test_unknown_loops_are_refused(s, wanted):
    with pytest.raises(ScheduleError) as caught:
        s.split(wanted, [None, 4])
    assert caught.value.code in ("schedule.no-such-loop", "schedule.no-such-stage")


def test_a_misspelt_loop_gets_a_suggestion(s):
    s.split("k", [None, 4], names=["col", "lane"])
    with pytest.raises(ScheduleError, match="did you mean 'lane'"):
        s.unroll("lan")


def test_a_handle_whose_loop_is_gone_says_where_it_went(s):
    k = s.loops("out")[1]
    s.split(k, [None, 4])
    with pytest.raises(ScheduleError) as caught:
        s.unroll(k)
    assert caught.value.code == "schedule.loop-gone"
    assert "`split` replaced k by k_0, k_1" in str(caught.value)


def test_a_misspelt_stage_gets_a_suggestion(s):
    with pytest.raises(ScheduleError, match="did you mean 'tmp'"):
        s.compute_at("tmpp", "k")


def test_stages_that_write_one_array_are_numbered():
    def twice(y):
        n = len(y)
        for i in range(n):
            y[i] = 0.0
        for j in range(n):
            y[j] += 1.0

    s = Schedule(twice)
    assert [each.name for each in s.stages() if each.array == "y"] == ["y#0", "y#1"]
    with pytest.raises(ScheduleError, match="'y#0' or 'y#1'"):
        s.loops("y")
