"""Functions that are nearly NumPy's stand in vector loops only, and not where all bits are kept.

How near they are is tested in tests/intrinsics/test_vector_math.py.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from astile import Schedule, tile

TYPES = {"x": "float32", "out": "float32"}


def by_numpy(x, out):
    for i in range(x.shape[0]):
        out[i] = np.exp(x[i]) + np.log(x[i]) * np.tanh(x[i])


def by_math(x, out):
    for i in range(x.shape[0]):
        out[i] = math.exp(x[i]) + math.log(x[i]) * math.tanh(x[i])


def text(function, *, exact=False, in_vectors=True):
    s = Schedule(function, exact=exact)
    if in_vectors:
        s.vectorize("i")
    return s.lowered("cpu", types=TYPES).text


@pytest.mark.parametrize("function", [by_numpy, by_math])
def test_vectors_have_functions_of_their_own(function):
    found = text(function)
    assert all(f"{each}(" in found for each in ("exponential", "logarithm", "hyperbolic_tangent"))


@pytest.mark.parametrize("options", [{"exact": True}, {"in_vectors": False}])
def test_otherwise_the_library_is_called(options):
    found = text(by_numpy, **options)
    assert all(f"np.{each}(" in found for each in ("exp", "log", "tanh"))


def softmax(x, out):
    s = np.float32(0)
    for i in range(x.shape[0]):
        s += np.exp(x[i])
    for i in range(x.shape[0]):
        out[i] = np.exp(x[i]) / s


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_number_that_gets_a_wider_type_stands_in_vectors(dtype):
    x, found, wanted = (
        np.linspace(-3, 3, 19).astype(dtype),
        np.zeros(19, dtype),
        np.zeros(19, dtype),
    )
    tile(target="cpu", schedule=lambda s: s.vectorize("out.i"))(softmax)(x, found)
    softmax(x, wanted)
    np.testing.assert_allclose(found, wanted, rtol=3e-7 if dtype == "float32" else 1e-15)
