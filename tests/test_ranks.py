"""Kernels of functions whose text does not show how many axes an array has."""

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
