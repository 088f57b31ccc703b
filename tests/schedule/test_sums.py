"""Sums of NumPy under the user's own schedule: proved as calls, loops where a target runs them."""

from __future__ import annotations

import numpy as np
import pytest

from astile import LoweringError, tile


def rows(x, w, out):
    for i in range(x.shape[0]):
        out[i] = np.sum(x[i, :]) + np.mean(w[:]) * np.dot(x[i, :], w)


def tails(x, w, out):
    n = x.shape[0]
    for i in range(n - 1, -1, -1):
        out[i] = np.sum(x[i, i + 1 :] * w[i + 1 :])


def by_twos(s):
    s.split("i", [None, 2])


def arguments(rows_of_x, dtype="float64"):
    random = np.random.default_rng(0)
    values = [random.random((rows_of_x, rows_of_x)), random.random(rows_of_x), np.zeros(rows_of_x)]
    return [each.astype(dtype) for each in values]


@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("function", [rows, tails])
def test_values(function, size, target):
    made = tile(target=target, schedule=by_twos)(function)
    x, w, out = arguments(size)
    wanted = out.copy()
    function(x, w, wanted)
    made(x, w, out)
    np.testing.assert_allclose(out, wanted, rtol=1e-14)
    if target == "python":
        assert out.tobytes() == wanted.tobytes()


def test_the_steps_keep_the_calls():
    made = tile(target="cpu", schedule=by_twos)(rows)
    assert "np.sum(x[" in made.source()
    assert "np.dot(" in made.source()
    assert [each.proof.kind for each in made.steps] == ["equal"]


def test_exact_leaves_them_to_numpy():
    x, w, out = arguments(4)
    with pytest.raises(LoweringError, match="whole arrays inside a kernel"):
        tile(target="emulate", schedule=by_twos, exact=True)(rows)(x, w, out)


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_types_that_loops_do_not_add_up_run_as_calls(target):
    made = tile(target=target, schedule=by_twos)(tails)
    x, w, out = arguments(4, "complex128")
    wanted = out.copy()
    tails(x, w, wanted)
    made(x, w, out)
    np.testing.assert_allclose(out, wanted, rtol=1e-14)


def test_every_form_agrees():
    made = tile(target="cpu", schedule=by_twos)(rows)
    assert "target emulate" in str(made.check(*arguments(5)))
