"""Variables of loops on several cores are unsigned in numba; values made of them are not."""

from __future__ import annotations

import numpy as np

from astile.decorator import tile
from astile.lower import cpu
from tests.support.scheduled import program


def below_zero(k, out):
    for i in range(len(k)):
        out[i, 0] = -i
        out[i, 1] = ~i
        out[i, 2] = i - i * i
        m = i
        m -= 3
        out[i, 3] = m
        out[i, 4] = (i if k[i] < 4 else k[i]) + k[i]
        out[i, 5] = max(i, k[i]) + k[i]
        for j in range(i):
            out[i, 6] -= -j


def test_values_below_zero() -> None:
    k = np.array([2**53 + 1, 2, 3, 2**53 + 3, 5])
    kernel = tile(target="cpu", schedule=lambda s: s.parallel("i"))(below_zero)
    for kind in ("int64", "float64"):
        wanted, found = np.zeros((5, 7), kind), np.zeros((5, 7), kind)
        below_zero(k, wanted)
        kernel(k, found)
        np.testing.assert_array_equal(found, wanted)


def test_indices_stay_unsigned() -> None:
    text = cpu.lower(
        program("""
    def f(x, y):
        for i in parallel(1000):
            y[i] = x[i - i // 2] - i
            y[i] = i - i
    """)
    ).text
    assert "y[i] = x[i - i // 2] - i" in text
    assert "y[i] = int64(i) - i" in text
