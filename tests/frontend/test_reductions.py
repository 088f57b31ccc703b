"""Reductions of whole arrays: what becomes loops, what stays, and that values are NumPy's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.linalg import norm

from astile import Schedule, tile
from astile.frontend.build import build
from tests.support.plain_forms import as_given, grid, kernel, shown

BECOMES = {
    "sum": (
        "A[0] = np.sum(B[1:])",
        "total = np.float64(0.0)\nfor i in range(1, B.shape[0]):\n    total += B[i]\n\n"
        "A[0] = B.dtype.type(total)",
    ),
    "method": (
        "for k in range(n):\n    A[k] = B[k, :].sum()",
        "for k in range(n):\n    total = np.float64(0.0)\n    for i in range(B.shape[1]):\n"
        "        total += B[k, i]\n    A[k] = B.dtype.type(total)",
    ),
    "row without a slice": (
        "for k in range(n):\n    A[k] = np.mean(B[k])",
        "for k in range(n):\n    total = np.float64(0.0)\n    for i in range(B.shape[1]):\n"
        "        total += B[k, i]\n    A[k] = B.dtype.type(total / B.shape[1])",
    ),
    "product of rows": (
        "for k in range(n):\n    A[k] = np.dot(B[k, :], B[0, :])",
        "for k in range(n):\n    total = B.dtype.type(0)\n    for i in range(B.shape[1]):\n"
        "        total += B[k, i] * B[0, i]\n    A[k] = total",
    ),
    "row and an array of one axis": (
        "for k in range(n):\n    w = np.dot(A, B[k])\n    A[0] = w",
        "if A.shape[0] != B.shape[1]:\n"
        '    raise ValueError("A and B[k] have different lengths")\n'
        "for k in range(n):\n    total = A.dtype.type(0)\n    for i in range(A.shape[0]):\n"
        "        total += A[i] * B[k, i]\n    w = total\n    A[0] = w",
    ),
    "operator": (
        "A[0] = A[1:] @ A[:-1]",
        "total = A.dtype.type(0)\nfor i in range(1, A.shape[0]):\n    total += A[i] * A[i - 1]\n\n"
        "A[0] = total",
    ),
    "largest": (
        "A[0] = np.max(A[1:]) - A[1:].min()",
        "largest = A[1]\nfor i in range(1, A.shape[0]):\n"
        "    largest = np.maximum(largest, A[i])\n\n"
        "smallest = A[1]\nfor i in range(1, A.shape[0]):\n"
        "    smallest = np.minimum(smallest, A[i])\n\n"
        "A[0] = largest - smallest",
    ),
    "how many": (
        "A[0] = np.sum(B[:] > 2)",
        "total = np.int64(0)\nfor i in range(B.shape[0]):\n    total += B[i] > 2\n\nA[0] = total",
    ),
    "any and all": (
        "if np.any(B[:] < 0):\n    A[0] = np.all(B[:])",
        "found = np.bool_(False)\nfor i in range(B.shape[0]):\n    found |= B[i] < 0\n\n"
        "if found:\n    holds = np.bool_(True)\n    for i in range(B.shape[0]):\n"
        "        holds &= B[i] != 0\n    A[0] = holds",
    ),
    "one in another": (
        "A[0] = np.sum(B[:] - np.max(B[:]))",
        "largest = B[0]\nfor i in range(B.shape[0]):\n    largest = np.maximum(largest, B[i])\n\n"
        "total = np.float64(0.0)\nfor i in range(B.shape[0]):\n    total += B[i] - largest\n\n"
        "A[0] = B.dtype.type(total)",
    ),
    "several axes": (
        "C = np.zeros((n, 3))\nA[0] = C.prod()",
        "C = np.zeros((n, 3))\nproduct = np.float64(1.0)\nfor i in range(n):\n"
        "    for j in range(3):\n        product *= C[i, j]\n\nA[0] = product",
    ),
    "pairs of cells, of which the last may be cut": (
        "for k in range(0, A.shape[0], 2):\n    B[k // 2] = A[k : k + 2].max()",
        "for k in range(0, A.shape[0], 2):\n    largest = A[k]\n"
        "    for i in range(k, min(k + 2, A.shape[0])):\n"
        "        largest = np.maximum(largest, A[i])\n    B[k // 2] = largest",
    ),
    "blocks of a literal number": (
        "for k in range(0, 6, 3):\n    A[k] = B[k : k + 3].min()",
        "for k in range(0, 6, 3):\n    smallest = B[k]\n"
        "    for i in range(k, min(k + 3, B.shape[0])):\n"
        "        smallest = np.minimum(smallest, B[i])\n    A[k] = smallest",
    ),
    "around a cell": (
        "for k in range(n, A.shape[0] - n):\n    B[k] = np.mean(A[k - n : k + n + 1])",
        "if 2 * n < -1:\n"
        '    raise ValueError("A[k - n:k + n + 1] ends before the array")\n'
        "for k in range(n, A.shape[0] - n):\n    total = np.float64(0.0)\n"
        "    for i in range(k - n, k + n + 1):\n        total += A[i]\n"
        "    B[k] = A.dtype.type(total / max(2 * n + 1, 0))",
    ),
    "of what is made in a loop": (
        "for k in range(B.shape[0]):\n    e = B[k, :] - B[k, :].max()\n    A[k] = e.sum()",
        "for k in range(B.shape[0]):\n    largest = B[k, 0]\n    for j in range(B.shape[1]):\n"
        "        largest = np.maximum(largest, B[k, j])\n    value = largest\n"
        "    e = np.empty(B.shape[1], B.dtype)\n    for i in range(B.shape[1]):\n"
        "        e[i] = B[k, i] - value\n    total = np.float64(0.0)\n"
        "    for j in range(B.shape[1]):\n        total += e[j]\n    A[k] = B.dtype.type(total)",
    ),
    "spread": (
        "for k in range(n):\n    A[k] = np.std(B[k])",
        "for k in range(n):\n    total = np.float64(0.0)\n    for i in range(B.shape[1]):\n"
        "        total += B[k, i]\n    mean = total / B.shape[1]\n"
        "    squares = np.float64(0.0)\n    for i in range(B.shape[1]):\n"
        "        squares += np.square(B[k, i] - mean)\n"
        "    A[k] = B.dtype.type(np.sqrt(squares / B.shape[1]))",
    ),
    "variance of a sample": (
        "C = np.zeros((n, 3))\nA[0] = C.var(ddof=1)",
        "C = np.zeros((n, 3))\ntotal = np.float64(0.0)\nfor i in range(n):\n"
        "    for j in range(3):\n        total += C[i, j]\n\nmean = total / (max(n, 0) * 3)\n"
        "squares = np.float64(0.0)\nfor i in range(n):\n    for j in range(3):\n"
        "        squares += np.square(C[i, j] - mean)\n\n"
        "A[0] = squares / max(max(n, 0) * 3 - 1, 0)",
    ),
    "length of a vector": (
        "for k in range(n):\n    A[k] = np.linalg.norm(B[k])",
        "for k in range(n):\n    total = np.float64(0.0)\n    for i in range(B.shape[1]):\n"
        "        total += B[k, i] * B[k, i]\n    A[k] = B.dtype.type(np.sqrt(total))",
    ),
    "distance": (
        "for k in range(n):\n    A[k] = np.linalg.norm(B[k, :] - B[0, :])",
        "for k in range(n):\n    total = np.float64(0.0)\n    for i in range(B.shape[1]):\n"
        "        total += np.square(B[k, i] - B[0, i])\n    A[k] = B.dtype.type(np.sqrt(total))",
    ),
    "length of integers": (
        "C = np.zeros(len(B), np.int8)\nA[0] = np.linalg.norm(C)",
        "C = np.zeros(len(B), np.int8)\ntotal = np.float64(0.0)\nfor i in range(B.shape[0]):\n"
        "    total += np.square(np.float64(C[i]))\n\nA[0] = np.sqrt(total)",
    ),
    "average": (
        "A[0] = np.average(B[1:])",
        "total = np.float64(0.0)\nfor i in range(1, B.shape[0]):\n    total += B[i]\n\n"
        "A[0] = B.dtype.type(total / max(B.shape[0] - 1, 0))",
    ),
    "range of values": (
        "A[0] = np.ptp(A[1:])",
        "largest = A[1]\nfor i in range(1, A.shape[0]):\n"
        "    largest = np.maximum(largest, A[i])\n\n"
        "smallest = A[1]\nfor i in range(1, A.shape[0]):\n"
        "    smallest = np.minimum(smallest, A[i])\n\n"
        "A[0] = largest - smallest",
    ),
    "integers": (
        "C = np.zeros(len(B), np.int32)\nA[0] = np.sum(C)",
        "C = np.zeros(len(B), np.int32)\ntotal = np.int64(0)\nfor i in range(B.shape[0]):\n"
        "    total += C[i]\n\n"
        "A[0] = total",
    ),
}


@pytest.mark.parametrize("name", BECOMES)
def test_becomes_loops(name):
    before, after = BECOMES[name]
    assert shown(before) == after


STAYS = {
    "along an axis": "A[:] = np.sum(B, axis=0)",
    "of another type": "A[0] = np.sum(B[:], dtype=np.float32)",
    "where it may not be computed": "A[0] = np.sum(B[:]) if n else 0.0",
    "after `and`": "A[0] = n > 0 and np.sum(B[:]) > 0",
    "matrix product": "A[0, 0] = np.dot(B[:, :], B[:, :])[0, 0]",
    "largest of what may be empty": "for k in range(n):\n    A[k] = np.max(B[k, :k])",
    "place of the largest": "A[0] = np.argmax(B[:])",
    "spread along an axis": "A[0] = np.std(B[:, :], axis=0)",
    "spread by a number that is not literal": "A[0] = np.std(B[:], ddof=n)",
    "spread by a number that is negative": "A[0] = np.std(B[:], ddof=-1)",
    "no literal integer": "A[0] = B[:].var(ddof=1.0)",
    "another length of a vector": "A[0] = np.linalg.norm(B[:], 1)",
    "average with weights": "A[0] = np.average(B[:], weights=A)",
    "a mean with what is not its own": "A[0] = np.mean(B[:], ddof=1)",
    "slices that may differ": "k = n // 2\nA[0] = np.dot(A[:k], B[1:])",
    "sum of one's own": "A[0] = sum(B)\nB[0] = 0",
    "picked cells": "A[0] = np.sum(A[B])\nB[0] = 0",
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert shown(STAYS[name]) == as_given(STAYS[name])


def statistics(x, y, out):
    for i in range(x.shape[0]):
        out[i, 0] = np.sum(x[i, :]) / 3
        out[i, 1] = x[i].mean() * np.float32(0.1)
        out[i, 2] = np.dot(x[i], y)
        out[i, 3] = np.prod(x[i, :] - y)
        out[i, 4] = np.sum(x[i] > y) + np.sum(x[i] * (x[i] > 0.5))
    return np.sum(x), x.mean(), np.any(y > 0.9), np.sum(y == 0)


def spreads(x, y, out):
    for i in range(x.shape[0]):
        out[i, 0] = np.std(x[i, :])
        out[i, 1] = x[i].var(ddof=1) * np.float32(0.1)
        out[i, 2] = np.linalg.norm(x[i])
        out[i, 3] = norm(x[i] * y) + np.var(x[i, :3], ddof=4)
        out[i, 4] = np.count_nonzero(x[i]) * np.float32(0.1) + np.average(x[i])
    return np.std(x), x.var(), norm(y), norm(x[1:]), np.std(y > 1), np.count_nonzero(y), np.ptp(y)


TYPES = ["float32", "float64", "int64", "int32", "uint8", "bool", "complex128"]


# the loops of other types are the same on every target
RUNS = [("python", dtype, size) for dtype in TYPES for size in (0, 1, 7)]
RUNS += [
    (each, dtype, size) for each in ("cpu", "emulate") for dtype in TYPES[:2] for size in (0, 7)
]


@pytest.mark.parametrize(("target", "dtype", "size"), RUNS)
@pytest.mark.parametrize("function", [statistics, spreads])
def test_values_and_types(function, target, dtype, size):
    random = np.random.default_rng(size)
    x = (8 * random.random((size, 5)) - 2).astype(dtype)
    y = (3 * random.random(5)).astype(dtype)
    plain, found = np.zeros((size, 5)), np.zeros((size, 5))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wanted = function(x, y, plain)
        except TypeError:  # no `-` of truth values
            return
        got = tile(target=target)(function)(x, y, found)
    rtol = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(found, plain, rtol=rtol)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol)
        assert type(one) is type(other)


def test_sums_are_as_exact_as_those_of_numpy():
    def mean(x):
        return np.mean(x[:])

    x = np.full(1 << 17, 0.1, np.float32)
    x[0] = 1 << 24  # to which nothing as small could be added in float32
    got = tile(target="cpu")(mean)(x)
    assert got == np.float32(np.mean(x.astype(np.float64)))


def test_empty_arrays_have_no_largest():
    made = kernel("A[0] = np.max(B[:])")
    with pytest.raises(ValueError, match="zero-size array"):
        made(grid(3), grid(0), 0)


@pytest.mark.parametrize("cells", [[], [3.0], [1.0, np.nan], [np.inf, 1.0], [2.0, 5.0]])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
def test_spreads_of_few_cells(target, dtype, cells):
    x = np.array(cells, dtype)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        got, wanted = tile(target=target)(few)(x), few(x)
    np.testing.assert_array_equal(got, wanted)
    assert [type(each) for each in got] == [type(each) for each in wanted]


def few(x):
    return np.std(x), np.var(x, ddof=1), np.var(x, ddof=2), x.var(ddof=7), norm(x)


def test_spreads_are_as_exact_as_those_of_numpy():
    x = np.full(1 << 16, 1e4, np.float32)
    x[::2] += np.float32(0.01)
    got = tile(target="cpu")(few)(x)
    for one, other in zip(got, few(x.astype(np.float64)), strict=True):
        assert one == np.float32(other)


def test_narrow_integers_do_not_wrap_around_in_lengths():
    x = np.full((2, 5), 100, np.int8)
    for target in ("python", "cpu", "emulate"):
        assert tile(target=target)(length)(x) == np.linalg.norm(x)


def length(x):
    return norm(x)


def test_exact_keeps_spreads():
    text = Schedule(few, exact=True).source()
    assert "np.std(x), np.var(x, ddof=1)" in text
    assert "norm(x)" in text


def summed(x):
    return np.sum(x)


def test_exact_keeps_the_order_of_numpy():
    assert not build(summed, exact=True).reassociated
    x = np.random.default_rng(0).random(1000).astype(np.float32)
    assert tile(target="python", exact=True)(summed)(x) == np.sum(x)
    assert "np.sum(x)" in Schedule(summed, exact=True).source()


def test_exact_keeps_counts_as_loops():
    def count(x):
        return np.sum(x[:] > 0)

    assert "total += x[i] > 0" in Schedule(count, exact=True).source()


@pytest.mark.parametrize("options", [{"target": "python"}, {"schedule": lambda s: None}])
def test_every_bit_is_kept_where_no_loop_is_needed(options):
    x = np.random.default_rng(3).random((7, 1000)).astype(np.float32)
    found, plain = np.zeros(7, np.float32), np.zeros(7, np.float32)
    summed_rows(x, plain)
    tile(**{"target": "python", **options})(summed_rows)(x, found)
    np.testing.assert_array_equal(found, plain)


def test_check_compares_up_to_rounding():
    made = tile(target="cpu")(summed_rows)
    report = made.check(np.random.default_rng(0).random((5, 9)), np.zeros(5))
    assert "within rounding" in str(report)


def summed_rows(x: Any, y: Any) -> None:
    for i in range(y.shape[0]):
        y[i] = np.sum(x[i, :])


def test_sums_can_be_reordered():
    s = Schedule(build(summed_rows))
    s.reorder("j", "i")
    assert "np.empty(y.shape[0], np.float64)" in s.source()
    assert s.steps[-1].proof is not None
    assert s.steps[-1].proof.kind == "equal"


def products(A: Any, B: Any, C: Any) -> None:
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] = np.dot(A[i, :], B[:, j])


def test_products_of_rows_can_be_tiled():
    s = Schedule(build(products))
    s.reorder("k", "i", "j")
    s.split("k", [None, 4])
    A, B = np.random.default_rng(1).random((5, 6)), np.random.default_rng(2).random((6, 7))
    C = np.zeros((5, 7))
    s.build("python")(A, B, C)
    np.testing.assert_allclose(C, A @ B, rtol=1e-12)
