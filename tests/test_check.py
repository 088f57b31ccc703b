"""Comparing forms of a kernel: what agrees, what diverges and where, what is left out."""

import numpy as np
import pytest

from astile.check import Candidate, compare
from astile.errors import ArgumentError, InternalError, LoweringError


def add(values):
    values["out"][...] = values["a"] + values["b"]
    return values["out"].sum()


def arguments(dtype=np.float64):
    a = np.arange(6, dtype=dtype).reshape(2, 3)
    return {"a": a, "b": a * 2, "out": np.zeros((2, 3), dtype)}


def changed(change):
    """`add`, and then a change of its outputs."""

    def run(values):
        result = add(values)
        change(values["out"])
        return result

    return run


def at(cell, value):
    def change(out):
        out[cell] = value

    return changed(change)


# --- agrees -------------------------------------------------------------------------------------


def test_table_of_what_agrees():
    values = arguments()
    candidates = [Candidate("step 1: s.split('i')", add, True), Candidate("target cpu", add, False)]
    report = compare(add, candidates, {"target cuda": "no GPU"}, values)
    assert [each.label for each in report.rows] == [
        "plain function", "step 1: s.split('i')", "target cpu", "target cuda",
    ]  # fmt: skip
    assert [each.difference for each in report.rows] == [0, 0, 0, None]
    lines = str(report).splitlines()
    assert lines[0].endswith("largest difference  first call, ms")
    assert lines[2].startswith("step 1: s.split('i')  bit-equal")
    assert lines[4] == "target cuda           skipped: no GPU"
    assert not values["out"].any()  # the caller's arrays stay as they are


def test_rounding_is_accepted_for_targets_only():
    nearly = at((1, 2), 15 * (1 + 1e-13))
    report = compare(add, [Candidate("target cpu", nearly, False)], {}, arguments())
    assert 0 < report.rows[1].difference < 1e-11
    with pytest.raises(InternalError, match=r"step 1 diverges .* at out\[1, 2\]"):
        compare(add, [Candidate("step 1", nearly, True)], {}, arguments())


def test_nan_and_infinity_equal_themselves():
    values = arguments()
    values["a"][0] = [np.nan, np.inf, -np.inf]
    for exact in (True, False):
        assert compare(add, [Candidate("same", add, exact)], {}, values).rows[1].difference == 0


def test_scratch_arrays_may_differ():
    candidates = [Candidate("step 1", at((0, 0), 99.0), True)]
    assert compare(add, candidates, {}, arguments(), frozenset({"out"}))


def test_views_of_one_array_stay_views_of_one_array():
    base = np.zeros(10)
    values = {"a": base[:8], "b": base[2:], "r": base[::-2], "f": np.zeros((4, 6)).T[1:]}

    def shared(copies):
        copies["a"][2] = 7
        assert copies["b"][0] == 7
        assert not base.any()
        copies["r"][0] = 3
        assert copies["b"][7] == 3
        assert copies["f"].strides == values["f"].strides

    assert len(compare(shared, [Candidate("same", shared, True)], {}, values).rows) == 2


def test_read_only_stays_read_only():
    values = {"a": np.zeros(3), "e": np.zeros(0)}
    values["a"].flags.writeable = False

    def run(copies):
        assert not copies["a"].flags.writeable

    compare(run, [], {}, values)


def test_target_that_cannot_express_the_program_is_noted():
    def cannot(values):
        raise LoweringError("too many threads")

    report = compare(add, [Candidate("target cuda", cannot, False, optional=True)], {}, arguments())
    assert report.rows[1].compared == "skipped: too many threads"
    with pytest.raises(LoweringError):
        compare(add, [Candidate("target cuda", cannot, False)], {}, arguments())


# --- diverges -----------------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("value", [14.9, np.nan, np.inf, -15.0])
def test_first_wrong_cell_is_named(exact, value):
    with pytest.raises(InternalError) as caught:
        compare(add, [Candidate("target cpu", at((1, 2), value), exact)], {}, arguments())
    assert "target cpu diverges from the plain function at out[1, 2]" in str(caught.value)
    assert f"it gives {np.float64(value)}, expected 15.0" in str(caught.value)
    assert "report it" in str(caught.value)


def test_integers_have_no_tolerance():
    with pytest.raises(InternalError, match=r"out\[1, 2\]"):
        compare(add, [Candidate("t", at((1, 2), 16), False)], {}, arguments(np.int64))
    big = arguments(np.int64)
    big["a"][1, 2] = 1 << 60
    off = at((1, 2), (1 << 60) + 11)
    with pytest.raises(InternalError, match=r"out\[1, 2\]"):
        compare(add, [Candidate("t", off, False)], {}, big)


def test_sign_of_zero_counts_where_bits_do():
    candidate = at((0, 0), -0.0)
    compare(add, [Candidate("target cpu", candidate, False)], {}, arguments())
    with pytest.raises(InternalError, match=r"out\[0, 0\]: it gives -0.0, expected 0.0"):
        compare(add, [Candidate("step 1", candidate, True)], {}, arguments())


def test_written_input_is_a_divergence():
    def spoils(values):
        result = add(values)
        values["a"][0, 1] = 5
        return result

    with pytest.raises(InternalError, match=r"a\[0, 1\]"):
        compare(add, [Candidate("step 1", spoils, True)], {}, arguments())


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda v: add(v) and None, "at the returned value: it gives None, expected 45.0"),
        (lambda v: (add(v), 1), "what is returned"),
        (lambda v: add(v) and np.zeros(2), "the shape of the returned value"),
        (lambda v: np.float32(add(v)), "the dtype of the returned value"),
    ],
)
def test_returned_values_are_compared(returned, message):
    with pytest.raises(InternalError, match=message):
        compare(add, [Candidate("step 1", returned, True)], {}, arguments())


def test_an_error_that_the_plain_function_does_not_raise():
    def fails(values):
        return values["a"][9, 9]

    with pytest.raises(InternalError, match="target cpu raises IndexError") as caught:
        compare(add, [Candidate("target cpu", fails, False)], {}, arguments())
    assert isinstance(caught.value.__cause__, IndexError)
    with pytest.raises(IndexError):
        compare(fails, [], {}, arguments())


def test_device_arrays_are_refused():
    class OnDevice:
        __cuda_array_interface__ = {"shape": (1,)}  # noqa: RUF012

    with pytest.raises(ArgumentError, match="in the memory of a GPU"):
        compare(add, [], {}, {"a": OnDevice()})


def test_progress_is_told_before_each_form_runs():
    told = []
    candidates = [Candidate("one", add, True), Candidate("two", add, True)]
    compare(add, candidates, {}, arguments(), show=lambda *each: told.append(each))
    assert told == [("plain function", 0, 3), ("one", 1, 3), ("two", 2, 3)]
