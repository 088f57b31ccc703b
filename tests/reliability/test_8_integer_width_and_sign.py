"""Indices never wrap: unsigned arithmetic only where nothing can be negative."""

import numpy as np
import pytest

from astile.decorator import tile
from astile.runtime import emulate
from astile.schedule.schedule import Schedule


def halo(x, out):
    n = len(out)
    for i in range(n):
        s = np.float32(0)
        for d in range(-1, 2):
            if i + d >= 0 and i + d < n:
                s += x[i + d]
        out[i] = s


def backwards(x, out):
    n = len(x)
    for i in range(n - 1, -1, -1):
        out[n - 1 - i] = x[i]


def wrapped(x, out):
    n = len(x)
    for i in range(n):
        out[i] = x[(i - 3) % n]


def reference(function, x):
    out = np.full_like(x, np.nan)
    function(x, out)
    return out


@pytest.mark.parametrize("function", [halo, backwards])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 20])
def test_indices_below_zero_before_their_guard(function, n):
    s = Schedule(function)
    outer, inner = s.split("i", [None, 8])
    s.bind(outer, "blockIdx.x")
    s.bind(inner, "threadIdx.x")
    kernel = emulate.load(s.source("cuda"), function.__name__)
    x = np.random.default_rng(n).random(n, dtype=np.float32)
    out = np.full_like(x, np.nan)
    kernel(x, out)
    np.testing.assert_array_equal(out, reference(function, x))


@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
def test_a_remainder_of_a_negative_number_floors(target):
    kernel = tile(target=target)(wrapped)
    x = np.arange(7, dtype=np.float32)
    out = np.zeros_like(x)
    kernel(x, out)
    np.testing.assert_array_equal(out, reference(wrapped, x))
