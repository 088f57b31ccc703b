"""Rows 14 to 26: what depends on the order of iterations, on memory, and on exceptions."""

from __future__ import annotations

import re

import numpy as np
import pytest

from astile.decorator import tile
from astile.errors import ArgumentError, IllegalSchedule, LoweringError, ScheduleError, SourceError
from astile.schedule.schedule import Schedule
from tests.semantics import corners
from tests.semantics.agreement import TARGETS, agrees, array, outcome

HOST = ("python", "cpu")
zeros = np.zeros
NAN = float("nan")
X = array("float64", 1, 3, 2, -1, 5)


def refused(function, step, *, exact=False, match=None):
    """A step that is not taken."""
    s = Schedule(function, exact=exact)
    with pytest.raises(IllegalSchedule, match=match) as caught:
        step(s)
    return caught.value


@pytest.mark.parametrize("exact", [False, True])
def test_14_extremes_keep_their_first_argument(exact):
    a = array("float32", NAN, 1, -0.0, 0.0, 0.0)
    b = array("float32", 1, NAN, 0.0, -0.0, -1)
    agrees(corners.extremes, a, b, zeros(5), zeros(5), exact=exact)


def test_14_order_of_extremes_stays_with_exact():
    refused(corners.largest, lambda s: s.reverse("i"), exact=True)
    Schedule(corners.largest).reverse("i")


def test_15_order_of_sums_stays_with_exact():
    refused(corners.totals, lambda s: s.reorder("j", "i"), exact=True, match=r"out\[0\]")
    x = np.random.default_rng(1).random(50).astype("float32")
    agrees(corners.total, x, exact=True)


def test_15_sums_in_parts_repeat_bit_for_bit():
    s = Schedule(corners.sums_of_rows)
    _, inner = s.split("k", [None, 4])
    s.rfactor("out", inner)
    s.parallel("i")
    kernel = s.build(target="cpu")
    x = np.random.default_rng(2).random((7, 37)).astype("float32")
    results = set()
    for _ in range(5):
        out = zeros(7, "float32")
        kernel(x, out)
        results.add(out.tobytes())
    assert len(results) == 1
    np.testing.assert_allclose(out, x.sum(axis=1), rtol=1e-5)


def in_parts(s):
    s.split("i", [2, None])
    s.rfactor("out", "i_0")


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_15_integers_that_add_up_floating_point_numbers(target):
    a, out = np.full(8, 0.25), np.full(1, 5)
    agrees(corners.counted_down, a, out, targets=(target,), schedule=in_parts)
    kernel = tile(target=target, schedule=in_parts)(corners.counted_down)
    assert len(kernel.schedule.steps) == 2
    kernel.check(a, out)  # each step as the call takes it


def test_15_a_gpu_refuses_them():
    kernel = tile(target="emulate", schedule=in_parts)(corners.counted_down)
    with pytest.raises(LoweringError, match="adds up floating-point numbers"):
        kernel(np.full(8, 0.25), np.full(1, 5))


def test_15_cells_that_hold_the_least_of_wider_integers():
    a, out = array("int64", -56, 250), array("uint8", 255)  # -56 is stored as 200
    agrees(corners.least_by_condition, a, out, targets=HOST, schedule=lambda s: s.reverse("i"))
    kernel = tile(target="emulate", schedule=lambda s: s.reverse("i"))(corners.least_by_condition)
    with pytest.raises(LoweringError, match="holds the least of wider ones"):
        kernel(a, out)
    agrees(corners.least_by_condition, array("uint8", 7, 9), out, schedule=lambda s: s.reverse("i"))


def test_16_sums_of_integers_do_not_depend_on_their_order():
    s = Schedule(corners.totals)
    s.reorder("j", "i")
    x = np.random.default_rng(3).integers(0, 255, (9, 7), dtype="uint8")
    wanted = outcome(corners.totals, [x, zeros(1, "uint8")])
    for target in TARGETS:
        assert outcome(s.copy().build(target=target), [x, zeros(1, "uint8")]) == wanted


def test_17_loop_variable_after_its_loop():
    agrees(corners.last_of_loop, zeros(4), zeros(4), targets=HOST)
    agrees(corners.last_of_loop, zeros(0), zeros(4), targets=HOST)  # UnboundLocalError
    with pytest.raises(LoweringError, match="i may be read before it is set"):
        tile(target="emulate")(corners.last_of_loop)(zeros(4), zeros(4))


def test_18_loop_variable_changed_in_its_body():
    agrees(corners.changed_in_body, zeros(4), zeros(4))


def test_19_loops_that_are_left():
    agrees(corners.left_early, X, zeros(5))
    agrees(corners.returns_early, X, zeros(5), targets=HOST)
    with pytest.raises(ScheduleError, match="may be left early"):
        Schedule(corners.left_early).parallel("i")


def test_20_updates_in_place():
    agrees(corners.in_place, X)
    error = refused(corners.in_place, lambda s: s.parallel("i"))
    assert error.kind == "race"


def test_21_memory_that_nothing_was_written_to():
    with pytest.raises(SourceError, match=r"t\[1\] is read, and nothing is ever written") as caught:
        tile(corners.unwritten)
    assert caught.value.code == "source.unwritten"
    assert caught.value.diagnostic.related


def test_21_memory_that_is_written_at_some_sizes():
    agrees(corners.written_in_part, X, 5, zeros(5))
    with pytest.raises(Exception, match="is read before anything is written to it"):
        tile(target="emulate")(corners.written_in_part)(X, 2, zeros(5))


def test_22_negative_indices():
    agrees(corners.neighbours, X, zeros(5))


@pytest.mark.parametrize("target", TARGETS)
def test_22_indices_that_leave_an_array(target):
    out = zeros(5)
    with pytest.raises(ArgumentError, match="index 5 is past the end"):
        tile(target=target)(corners.beyond_end)(X, out)
    assert not out.any()


def test_23_arrays_that_meet_in_memory():
    for target in HOST:
        base = np.arange(6.0)
        plain = base.copy()
        corners.shifted_copy(plain[:5], plain[1:])
        tile(target=target)(corners.shifted_copy)(base[:5], base[1:])
        assert base.tolist() == plain.tolist()
    with pytest.raises(ArgumentError, match="overlap in memory"):
        tile(target="emulate")(corners.shifted_copy)(base[:5], base[1:])


@pytest.mark.parametrize("target", TARGETS)
def test_23_outputs_whose_cells_are_one(target):
    with pytest.raises(ArgumentError, match="several indices share one cell"):
        tile(target=target)(corners.stored)(
            X, np.lib.stride_tricks.as_strided(zeros(1), (5,), (0,))
        )


def test_24_a_guard_keeps_an_index_from_being_used():
    agrees(corners.guarded_index, X, array("int64", 0, 9, 4, 3), zeros(4))


def test_24_an_index_that_is_used_raises():
    arguments = [X, array("int64", 0, -6, 4, 3), zeros(4)]
    for target in TARGETS:
        found = outcome(tile(target=target)(corners.guarded_index), arguments)
        assert found.raised is IndexError


def test_24_arrays_after_an_exception_of_an_expression():
    arguments = [X, array("int64", 1, 9, 0), zeros(3), zeros(3)]
    agrees(corners.gathered_and_doubled, *arguments, targets=HOST)
    plain = outcome(corners.gathered_and_doubled, arguments)
    for target in HOST:
        kernel = tile(target=target, schedule=lambda s: s.merge("i#0", "i#1"))(
            corners.gathered_and_doubled
        )
        found = outcome(kernel, arguments)
        assert found.raised is plain.raised is IndexError
        assert found.arrays[2] == plain.arrays[2]
        assert found.arrays[3] != plain.arrays[3]  # the first iteration stored here too


def test_24_nothing_moves_across_what_may_raise():
    agrees(corners.checked_first, X, zeros(5), 2, targets=HOST)
    refused(corners.checked_first, lambda s: s.reverse("i"), match="may be left before")


def test_25_several_iterations_write_one_cell():
    agrees(corners.marked, X, zeros(2))
    agrees(corners.last_mark, X, zeros(2))
    refused(corners.last_mark, lambda s: s.parallel("i"))


def test_26_indices_out_of_arrays():
    agrees(corners.gathered, X, array("int64", 0, -1, 4, 3), zeros(4))
    agrees(corners.counted, X, array("int64", 0, 0, 1), zeros(4))
    Schedule(corners.gathered).parallel("i")
    refused(corners.scattered, lambda s: s.parallel("i"), match="same cell")
    refused(corners.counted, lambda s: s.parallel("i"))


def test_26_indices_that_leave_an_array():
    for target in TARGETS:
        found = outcome(tile(target=target)(corners.gathered), [X, array("int64", 9), zeros(1)])
        assert found.raised is IndexError


def test_26_no_step_runs_where_an_index_is_a_mask():
    def merged(s):
        s.merge("j#0", "j#1")

    flags = array("bool", 1, 0, 1)
    agrees(corners.doubled_rows, flags, np.ones((3, 3)), targets=("python",), schedule=merged)
    rows = array("int64", 2, 0, 1)
    agrees(corners.doubled_rows, rows, np.ones((3, 3)), targets=("python",), schedule=merged)


def test_26_ranges_of_truth_values():
    arguments = array("bool", 1, 0), zeros(2)
    agrees(corners.counted_as_often, *arguments, targets=("python",))
    for target in ("cpu", "emulate"):
        with pytest.raises(LoweringError, match="range of a truth value"):
            tile(target=target)(corners.counted_as_often)(*arguments)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (corners.half_of_all, "bound of a loop len(x) / 2"),
        (corners.every_second, "bound of a loop 2.0"),
        (corners.as_many_as_a_cell_says, "bound of a loop n"),
        (corners.first_half, "bound of a slice len(x) / 2"),
        (corners.cell_in_the_middle, "index k"),
    ],
)
def test_26_floating_point_numbers_for_integers(function, says):
    x = np.arange(4.0)
    for plain in (function, tile(target="python")(function)):
        with pytest.raises((TypeError, IndexError)):
            plain(x.copy())
    for target in ("cpu", "emulate"):
        with pytest.raises(LoweringError, match=re.escape(says)) as caught:
            tile(target=target)(function)(x.copy())
        assert caught.value.diagnostic.span is not None
    with pytest.warns(RuntimeWarning), pytest.raises((TypeError, IndexError)):
        tile(function)(x.copy())


def test_26_indices_of_uint64():
    k = array("uint64", 2, 0)
    agrees(corners.gathered_below, X, k + np.uint64(1), zeros(2))
    for target in ("cpu", "emulate"):
        with pytest.raises(IndexError):
            tile(target=target)(corners.gathered_below)(X, k, zeros(2))


def test_26_arrays_without_cells_on_a_gpu():
    agrees(corners.gathered, zeros(0), zeros(0, "int64"), zeros(0))  # no block is launched
    arguments = [zeros(0), zeros(3, "int64"), zeros(2)]
    agrees(corners.summed_lists, *arguments)  # on the host
