"""Functions of calculus beside NumPy's: over the whole range, and where there are no numbers."""

from __future__ import annotations

import numba  # noqa: TID251
import numpy as np
import pytest

from astile.intrinsics.vector_math import exponential, hyperbolic_tangent, logarithm
from astile.intrinsics.vectors import load, store

LANES = 8
FUNCTIONS = (np.exp, np.log, np.tanh)
#: Largest errors, relative to the exact value: about one unit in the last place.
ERRORS = {np.float32: (1.0e-7, 1.0e-7, 1.6e-7), np.float64: (2.0e-16, 2.0e-16, 3.0e-16)}
SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1.0,
    -1.0,
    1e-40,
    5e-324,
    -1e-40,
    88.8,
    -103.9,
    709.9,
]


@numba.njit(error_model="numpy")
def all_of_them(x, out):
    for j in range(0, x.size, LANES):
        v = load(x, j, LANES)
        store(out, (0, j), exponential(v))
        store(out, (1, j), logarithm(v))
        store(out, (2, j), hyperbolic_tangent(v))


def arguments(dtype):
    """Floats of all sizes, more of those for which results are neither 0 nor infinite."""
    random = np.random.default_rng(0)
    size = np.dtype(dtype).itemsize
    bits = random.integers(0, 1 << 8 * size, 60_000, dtype=np.uint64)
    near = [random.uniform(-r, r, 20_000) for r in (1e-3, 1.0, 20.0, 104.0 if size == 4 else 746.0)]
    found = np.concatenate([SPECIAL, *near]).astype(dtype)
    found = np.concatenate([found, bits.astype(f"u{size}").view(dtype)])
    return found[: found.size // LANES * LANES]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_are_those_of_numpy(dtype):
    x = arguments(dtype)
    found = np.empty((3, x.size), dtype)
    with np.errstate(all="ignore"):
        all_of_them(x, found)
        wide = x.astype(np.longdouble)
        for function, ours, limit in zip(FUNCTIONS, found, ERRORS[dtype], strict=True):
            exact, theirs = function(wide), function(x)
            infinite = ~np.isfinite(exact.astype(dtype))
            np.testing.assert_array_equal(ours[infinite], exact.astype(dtype)[infinite])
            zero = theirs == 0
            np.testing.assert_array_equal(np.signbit(ours[zero]), np.signbit(theirs[zero]))
            error = np.abs(ours.astype(np.longdouble) - exact)[~infinite]
            allowed = np.maximum(
                limit * np.abs(exact), np.longdouble(np.finfo(dtype).smallest_subnormal)
            )[~infinite]
            worst = np.argmax(error - allowed)
            assert error[worst] <= allowed[worst], (function, x[~infinite][worst])
