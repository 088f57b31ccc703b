"""Stores around the caches put their lanes at any address; asking for memory changes nothing."""

from __future__ import annotations

import numba  # noqa: TID251
import numpy as np
import pytest

from astile.intrinsics.vectors import (
    fence,
    load,
    prefetch,
    prefetch_second,
    store_ahead,
    store_large,
    store_streaming,
)

CELLS = 96


@numba.njit
def streamed_16(a, out, at):
    store_streaming(out, at, load(a, 0, 16))
    fence()


@numba.njit
def streamed_4(a, out, at):
    store_streaming(out, at, load(a, 0, 4))
    fence()


@numba.njit
def ahead_4(a, out, at):
    store_ahead(out, at, load(a, 0, 4))


@numba.njit
def large_4(a, out, at):
    store_large(out, at, load(a, 0, 4))


@numba.njit
def asked_for(a, out, at):
    prefetch(a, at)
    prefetch_second(a, at)
    out[0] = a[0]


def from_a_line(cells: int, dtype: type) -> np.ndarray:
    """Cells of -1 from an address that is a multiple of 64."""
    size = np.dtype(dtype).itemsize
    raw = np.full(cells + 64 // size, -1, dtype)
    skipped = -raw.ctypes.data % 64 // size
    return raw[skipped : skipped + cells]


@pytest.mark.parametrize(("stores", "lanes"), [(streamed_16, 16), (streamed_4, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
def test_stores_at_every_address(stores, lanes: int, dtype: type) -> None:
    a = np.arange(1, 17).astype(dtype)
    for at in range(70):
        out = from_a_line(CELLS, dtype)
        stores(a, out, at)
        wanted = np.full(CELLS, -1, dtype)
        wanted[at : at + lanes] = a[:lanes]
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("cells", [CELLS, 1 << 22])
@pytest.mark.parametrize("stores", [large_4, ahead_4])
def test_stores_in_arrays_that_are_large_or_not(stores, cells: int) -> None:
    a, out = np.arange(1.0, 17.0), from_a_line(cells, np.float64)
    for at in range(9):
        out[: at + 8] = -1
        stores(a, out, at)
        np.testing.assert_array_equal(out[: at + 8], [-1] * at + [1, 2, 3, 4] + [-1] * 4)


@pytest.mark.parametrize("at", [0, 15, 10**6, -(10**9), 2**62])
def test_any_index_may_be_asked_for(at: int) -> None:
    a, out = np.arange(16.0), np.zeros(1)
    asked_for(a, out, at)
    assert out[0] == 0.0


def test_lines_of_later_stores_are_asked_for() -> None:
    ahead_4(np.arange(16.0), np.zeros(16), 0)
    large_4(np.arange(16.0), np.zeros(16), 0)
    for each in (ahead_4, large_4):
        (code,) = each.inspect_llvm().values()
        assert "llvm.prefetch.p0(" in code
