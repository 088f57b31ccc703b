"""Indices are checked as a kernel runs only at sizes at which data may lead out of an array."""

from __future__ import annotations

import numpy as np
import pytest

from astile import tile


def picked(x, y):
    for i in range(x.shape[0]):
        if x[i] > 0:
            y[i] = x[i]


def test_only_calls_that_may_leave_an_array_check_indices() -> None:
    kernel = tile(target="cpu")(picked)
    x, y = np.array([1.0, -1.0, 2.0, -2.0]), np.zeros(4)
    kernel(x, y)
    np.testing.assert_array_equal(y, [1, 0, 2, 0])
    few = np.zeros(3)
    kernel(x, few)  # the cell that is not there is not reached
    np.testing.assert_array_equal(few, [1, 0, 2])
    with pytest.raises(IndexError):
        kernel(np.array([1.0, 1.0, 1.0, 1.0]), np.zeros(3))
    checks = [key[0].check_bounds for key in kernel._forms.specializer("cpu", {})._launchers]
    assert checks == [False, True]
