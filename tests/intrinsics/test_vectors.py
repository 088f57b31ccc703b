"""Vectors do what NumPy does lane by lane, for arrays of every layout and for masked tails."""

from __future__ import annotations

from typing import Literal

import numba  # noqa: TID251
import numpy as np
import pytest

from astile.intrinsics import host, vectors
from astile.intrinsics.vectors import (
    below,
    bitcast,
    convert,
    count,
    fence,
    fma,
    get,
    get_where,
    high_halves,
    lane,
    larger,
    largest_of,
    load,
    load_along,
    load_where,
    low_halves,
    magnitude,
    maximum,
    minimum,
    product_of,
    put,
    round_down,
    select,
    smaller,
    smallest_of,
    splat,
    square_root,
    store,
    store_along,
    store_streaming,
    store_where,
    sum_of,
)

LANES = 8
SPECIAL = np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 3e38], np.float32)


@numba.njit(error_model="numpy")
def floats(a, b, c, out):
    """Every operation of floats, one row of the result for each."""
    x, y, z = load(a, 0, 8), load(b, 0, 8), load(c, 0, 8)
    store(out, (0, 0), x + y)
    store(out, (1, 0), x - y)
    store(out, (2, 0), x * y)
    store(out, (3, 0), x / y)
    store(out, (4, 0), -x)
    store(out, (5, 0), fma(x, y, z))
    store(out, (6, 0), minimum(x, y))
    store(out, (7, 0), maximum(x, y))
    store(out, (8, 0), smaller(x, y))
    store(out, (9, 0), larger(x, y))
    store(out, (10, 0), select((x < y) | (x == y), x, z))
    store(out, (11, 0), select(~(x != y) ^ (x >= z), x, z))
    store(out, (12, 0), square_root(x))
    store(out, (13, 0), magnitude(x))
    store(out, (14, 0), round_down(y))
    store(out, (15, 0), bitcast(bitcast(x, np.int32) + splat(np.int32(1), 8), np.float32))


def wanted_floats(a, b, c):
    """The same by NumPy; the rows in the same order."""
    wide = a.astype(np.float64) * b + c
    rows = [a + b, a - b, a * b, a / b, -a, wide, np.minimum(a, b), np.maximum(a, b)]
    rows += [np.where(b < a, b, a), np.where(b > a, b, a), np.where(a <= b, a, c)]
    rows += [np.where((a == b) ^ (a >= c), a, c), np.sqrt(a), np.abs(a), np.floor(b)]
    rows += [(a.view(np.int32) + np.int32(1)).view(np.float32)]
    return np.array([row.astype(np.float32) for row in rows])


def test_floats_are_those_of_numpy():
    random = np.random.default_rng(0)
    ordinary = random.normal(size=8).astype(np.float32)
    out = np.zeros((16, 8), np.float32)
    for turn in range(8):
        for a, b in ((SPECIAL, np.roll(SPECIAL, turn)), (ordinary, np.roll(SPECIAL, turn))):
            floats(a, b, ordinary[::-1].copy(), out)
            with np.errstate(all="ignore"):
                wanted = wanted_floats(a, b, ordinary[::-1])
            np.testing.assert_array_equal(out, wanted)
            ours, theirs = (np.signbit(np.nan_to_num(each[4:5])) for each in (out, wanted))
            np.testing.assert_array_equal(ours, theirs)


@numba.njit(error_model="numpy")
def places(a, out, n):
    """Masked, strided and streaming places, single cells, counters and sums."""
    mask = below(2, n, 8)
    store_where(mask, out, (0, 0), load_where(mask, a, (1, 2)))
    store(out, (1, 0), convert(count(n, 8), np.int32))
    store_streaming(out, (2, 0), load(a, (0, 1), 8))
    store_streaming(out, (3, 1), load(a, (0, 0), 8))
    fence()
    store_along(out, (4, 9), 0, load_along(a, (0, 3), 0, 4))
    row = load(a, (2, 0), 8)
    put(out, (4, 0), sum_of(row))
    put(out, (4, 1), product_of(row))
    put(out, (4, 2), smallest_of(row))
    put(out, (4, 3), largest_of(row))
    put(out, (4, 4), get(a, (3, 5)))
    put(out, (4, 5), lane(row, 3))
    put(out, (4, 6), get_where(mask, a, (2, 1)))
    store(out, (5, 0), low_halves(load(a, (0, 0), 8), load(a, (1, 0), 8), 2))
    store(out, (6, 0), high_halves(load(a, (0, 0), 8), load(a, (1, 0), 8), 2))
    store(out, (7, 0), convert(row < splat(np.int32(20), 8), np.int32))


def wanted_places(a, n):
    """The same by NumPy."""
    out = np.full((8, 12), -1, np.int32)
    few = min(max(n - 2, 0), 8)
    out[0, :few] = a[1, 2 : 2 + few]
    out[1, :8] = np.arange(n, n + 8)
    out[2, :8], out[3, 1:9] = a[0, 1:9], a[0, :8]
    out[4:, 9] = a[:4, 3]
    row = a[2, :8]
    out[4, :5] = row.sum(), np.prod(row, dtype=np.int32), row.min(), row.max(), a[3, 5]
    out[4, 5:7] = row[3], a[2, 1] if few else 0
    one, other = a[0, :8].reshape(2, 2, 2), a[1, :8].reshape(2, 2, 2)
    out[5, :8] = np.stack([one[:, 0], other[:, 0]], 1).ravel()
    out[6, :8] = np.stack([one[:, 1], other[:, 1]], 1).ravel()
    out[7, :8] = row < 20
    return out


@pytest.mark.parametrize("layout", ["C", "A"])
def test_places_are_those_of_numpy(layout):
    a = np.arange(40, dtype=np.int32).reshape(4, 10)
    out = np.empty((8, 12), np.int32)
    if layout == "A":
        a, out = np.repeat(a, 2, axis=1)[:, ::2], np.empty((8, 24), np.int32)[:, ::2]
    for n in (-5, 2, 3, 9, 10, 30):
        out[:] = -1
        places(a, out, n)
        np.testing.assert_array_equal(out, wanted_places(a, n))


def test_widths():
    assert host.vector_bytes() in (16, 32, 64)


def test_the_table_lists_what_there_is():
    listed = vectors.__doc__ or ""
    assert all(f"{name}(" in listed for name in set(vectors.__all__) - {"Vector"})


@numba.njit(error_model="numpy")
def truths(a, out, n):
    """Truth values are loaded and stored under a mask."""
    mask = below(0, n, 8)
    store_where(mask, out, (0, 0), load_where(mask, a, (1, 1)))
    store(out, (1, 0), load_where(mask, a, (0, 0)))


@pytest.mark.parametrize("n", [0, 3, 8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_truth_values_under_a_mask(n: int, order: Literal["C", "F"]) -> None:
    a = np.array(np.random.default_rng(5).random((2, 9)) < 0.5, order=order)
    out = np.ones((2, 8), bool, order)
    truths(a, out, n)
    wanted = np.ones((2, 8), bool)
    wanted[0, :n], wanted[1] = a[1, 1 : 1 + n], False
    wanted[1, :n] = a[0, :n]
    np.testing.assert_array_equal(out, wanted)


def test_truth_values_under_a_mask_are_one_operation() -> None:
    array = numba.types.Array(numba.types.boolean, 2, "C")
    truths.compile((array, array, numba.types.int64))
    text = truths.inspect_llvm((array, array, numba.types.int64))
    assert "llvm.masked.load.v8i8" in text
    assert "llvm.masked.store.v8i8" in text


@numba.njit(error_model="numpy")
def narrowed_alone(a, out):
    """One lane of each vector, which is known when this is compiled."""
    for row in range(2):
        store_where(below(row, 1, 2), out, (row, 0), convert(load(a, 0, 2), out.dtype))
    store_where(below(0, 1, 4), out, (2, 0), convert(load(a, 0, 4), out.dtype))
    store_where(count(0, 8) == splat(2, 8), out, (3, 0), convert(load(a, 0, 8), out.dtype))


@pytest.mark.parametrize("narrow", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32])
@pytest.mark.parametrize("wide", [np.int16, np.int32, np.int64])
def test_neighbours_of_a_narrowed_number_that_is_stored_alone(
    narrow: type[np.integer], wide: type[np.integer]
) -> None:
    """LLVM knows the lane of such a mask, and stores it as it was before it was narrowed."""
    out = np.full((4, 8), 77, narrow)
    narrowed_alone(np.arange(1, 9).astype(wide), out)
    wanted = np.full((4, 8), 77, narrow)
    wanted[0, 0], wanted[2, 0], wanted[3, 2] = 1, 1, 3
    np.testing.assert_array_equal(out, wanted)
