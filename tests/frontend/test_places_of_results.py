"""Statements that hand NumPy the place of a result, and parts with axes of one index."""

from __future__ import annotations

import numpy as np
import pytest

from astile import ArgumentError, LoweringError
from tests.support.plain_forms import kernel, outcome


@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
@pytest.mark.parametrize("dtype", ["float32", "int16", "bool"])
def test_places_of_results_take_what_numpy_lets_them(dtype, target):
    text = "np.abs(A[0], out=B[0])\nnp.less(A[1], B[1], B[1])\nfor i in range(2):\n    B[0] += 1"
    made = kernel(text, "A, B", target=target)
    A = np.array([[-3.7, 0, 2.5], [1, 2, 3]]).astype(dtype)
    for other in ("float64", "int16", "bool"):
        B = (np.arange(6.0) % 3).reshape(2, 3).astype(other)
        expected = outcome(made.__wrapped__, A, B)
        if isinstance(expected, str) and target != "python":
            with pytest.raises((LoweringError, ArgumentError)):
                made(A, B)
        else:
            assert outcome(made, A, B) == expected


def test_places_of_results_are_written():
    made = kernel("A[0] = 0\nnp.sqrt(A, out=B)\nB[0] = B[1]", "A, B")
    B = np.ones(3)
    B.flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        made(np.ones(3), B)


@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
def test_axes_of_one_index(target):
    made = kernel("t = abs(A[:, np.newaxis] - B[None, :])\nreturn t", "A, B", target=target)
    for n, m in ((0, 0), (0, 2), (3, 0), (1, 4), (3, 1), (5, 4)):
        A, B = np.arange(n) / 3, np.arange(m) ** 2.0
        assert outcome(made, A, B) == outcome(made.__wrapped__, A, B)
