"""Kernels of functions whose text does not show how many axes or what numbers an array has."""

from __future__ import annotations

import numpy as np
import pytest

from astile import ArgumentError, Schedule, tile
from astile.kernel import Kernel


def pick(x, out, order):
    for i in range(out.shape[0]):
        out[i] = x[order[i]]


ORDER = np.array([2, 0, 1])


@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
@pytest.mark.parametrize("shape", [(3,), (3, 4), (3, 2, 5)])
def test_rows_are_copied_where_arrays_have_more_axes(target, shape):
    made = tile(target=target)(pick)
    x = np.random.default_rng(0).random(shape)
    out = np.zeros(shape)
    made(x, out, ORDER)
    np.testing.assert_array_equal(out, x[ORDER])


@pytest.mark.parametrize("target", ["python", "emulate"])
def test_what_runs_as_written_takes_rows_too(target):
    made = tile(target=target)(pick)
    made(np.zeros((0, 4)), np.zeros((0, 4)), ORDER[:0])  # nothing to fall back to on a GPU
    line = np.arange(12.0)
    if target == "python":  # arrays that meet in memory
        made(line[:9].reshape(3, 3), line[3:].reshape(3, 3), ORDER)
        plain = np.arange(12.0)
        pick(plain[:9].reshape(3, 3), plain[3:].reshape(3, 3), ORDER)
        np.testing.assert_array_equal(line, plain)


def test_the_schedule_holds_for_them_too():
    made = tile(target="python", schedule=lambda s: s.split("i", [None, 2]))(pick)
    x, out = np.random.default_rng(0).random((3, 4)), np.zeros((3, 4))
    made(x, out, ORDER)
    np.testing.assert_array_equal(out, x[ORDER])
    assert "step 1" in str(made.check(x, out, ORDER))


def test_other_shapes_are_as_before():
    made = tile(target="python")(pick)
    x, out = np.arange(12.0).reshape(3, 4), np.zeros(3)
    with pytest.raises(ArgumentError, match="expected 1 axis"):
        made(x, out, ORDER)  # a row does not fit into a cell
    made(x[:, 0], out, ORDER)
    assert out.tolist() == [8, 0, 4]


def test_a_schedule_that_was_made_before_is_for_the_text():
    s = Schedule(pick)
    s.split("i", [None, 2])
    made = Kernel.of_schedule(s, "python")
    with pytest.raises(ArgumentError, match="expected 1 axis"):
        made(np.zeros((3, 4)), np.zeros((3, 4)), ORDER)


def summed(x, weights, out):
    for i in range(x.shape[0]):
        out[i] = np.sum(x[i, :]) + np.mean(weights[i, :])
    return np.sum(x), x.mean(), np.sum(weights)


@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool", "float32"])
def test_sums_of_integers_are_integers(target, dtype):
    random = np.random.default_rng(0)
    x = (250 * random.random((4, 5))).astype(dtype)
    x[0] = x[0] != 0
    weights, out = random.random((4, 5)), np.zeros(4)
    wanted = np.zeros(4)
    returned = summed(x, weights, wanted)
    made = tile(target=target)(summed)
    found = made(x, weights, out)
    np.testing.assert_allclose(out, wanted, rtol=1e-6)
    assert [type(each) for each in found] == [type(each) for each in returned]
    np.testing.assert_allclose(found, returned, rtol=1e-6)


def test_steps_are_taken_for_sums_of_integers_too():
    made = tile(target="python", schedule=lambda s: s.split("i", [None, 2]))(rows)
    x, out = np.arange(12).reshape(3, 4), np.zeros(3, np.int64)
    x[0, 0] = 2**60 + 1  # no float64 holds it
    made(x, out)
    assert out.tolist() == x.sum(axis=1).tolist()
    assert "step 1" in str(made.check(x, out))


def rows(x, out):
    for i in range(out.shape[0]):
        out[i] = np.sum(x[i, :])
