"""Loops whose iterations LLVM writes out."""

from __future__ import annotations

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from astile.intrinsics.vectors import fma, get, load, splat, store, unrolled  # noqa: E402


@numba.njit
def _rows(a, b, c):
    total = splat(np.float32(0), 8)
    for k in range(a.shape[0]):
        total = fma(splat(get(a, k), 8), load(b, (k, 0), 8), total)
        unrolled(24)
    store(c, 0, total)


@numba.njit
def _other_rows(a, b, c):
    total = splat(np.float32(0), 8)
    for k in range(a.shape[0]):
        total = fma(splat(get(a, k), 8), load(b, (k, 0), 8), total)
    store(c, 0, total)


def _multiply_adds(function) -> int:
    (code,) = function.inspect_llvm().values()
    return code.count("call <8 x float> @llvm.fma")


@pytest.mark.parametrize("size", [0, 1, 3, 4, 7, 16, 17])
def test_values_stay(size: int) -> None:
    a = np.arange(size, dtype=np.float32)
    b = np.arange(size * 8, dtype=np.float32).reshape(size, 8)
    c = np.full(8, -1, np.float32)
    _rows(a, b, c)
    assert np.array_equal(c, a @ b)


def test_the_machine_code_holds_several_iterations() -> None:
    a, b, c = np.zeros(2, np.float32), np.zeros((2, 8), np.float32), np.zeros(8, np.float32)
    _rows(a, b, c)
    _other_rows(a, b, c)
    assert 0 < _multiply_adds(_other_rows) < 24 <= _multiply_adds(_rows)
