"""Functions of NumPy and `math` that numba does not have, or has with other values."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from astile import tile
from astile.errors import LoweringError
from astile.lower.kernels import functions

TARGETS = ["python", "cpu", "emulate"]
REAL = [0.3, -0.7, 2.5, -0.0, 1.0, -3.5, np.nan, np.inf, -np.inf, 0.0, 0.25, 0.15, 123.45]
CELLS = {
    "bool": [True, False, True],
    "int8": [1, -2, 127, 0, -128],
    "uint8": [1, 2, 255, 0, 128],
    "uint64": [1, 2, 2**64 - 1, 0, 2**63],
    "float32": REAL,
    "float64": REAL,
}


def same(target: str, function: Callable[..., object], *given: object) -> None:
    """Require that a kernel gives what the plain function does, and stores it too."""
    own = [each.copy() if isinstance(each, np.ndarray) else each for each in given]
    plain = [each.copy() if isinstance(each, np.ndarray) else each for each in given]
    with np.errstate(all="ignore"):
        wanted = function(*plain)
        found = tile(target=target)(function)(*own)
    for one, other in zip([found, *own], [wanted, *plain], strict=True):
        if isinstance(other, np.ndarray):
            assert isinstance(one, np.ndarray)
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
            if other.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(one), np.signbit(other))


def of_cells(x, y, out):
    for i in range(len(x)):
        out[0, i] = np.heaviside(x[i], y[i])
        out[1, i] = np.fix(x[i])
        out[2, i] = np.sign(abs(x[i])) * np.float32(0.1)


@pytest.mark.parametrize("kind", ["uint64", "float32", "float64"])
@pytest.mark.parametrize("target", TARGETS)
def test_cells(kind: str, target: str) -> None:
    x = np.array(CELLS[kind], kind)
    same(target, of_cells, x, x[::-1].copy(), np.zeros((3, len(x))))


def of_real_cells(x, out):
    for i in range(len(x)):
        out[0, i] = np.round(x[i])
        out[1, i] = np.round(x[i], 1)
        out[2, i] = np.around(x[i], decimals=-1)
        out[3, i] = np.reciprocal(x[i])
        out[4, i] = np.cbrt(x[i]) > 0.5


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("target", TARGETS)
def test_rounding_of_cells(kind: str, target: str) -> None:
    x = np.array([*REAL, *(0.05 * k for k in range(40))], kind)
    same(target, of_real_cells, x, np.zeros((5, len(x)), kind))


def of_math(x, y, out):
    for i in range(len(x)):
        out[0, i] = math.fmod(x[i], y[i])
        out[1, i] = math.log(y[i], 3)
        out[2, i] = math.hypot(x[i], y[i])
        out[3, i] = math.sqrt(y[i])


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("target", TARGETS)
def test_functions_of_math(kind: str, target: str) -> None:
    x = np.array([each for each in CELLS[kind] if np.isfinite(each)], kind)
    with np.errstate(all="ignore"):
        y = np.where(np.abs(x) > 0, np.abs(x), 1).astype(kind)
        y = np.where(y > 0, y, 3).astype(kind)
    out, wanted = np.zeros((4, len(x))), np.zeros((4, len(x)))
    tile(target=target)(of_math)(x, y, out)
    of_math(x, y, wanted)
    np.testing.assert_array_equal(out[::3], wanted[::3])
    np.testing.assert_allclose(out, wanted, rtol=1e-15)


def named_operators(x, y, out):
    for i in range(len(x)):
        out[0, i] = np.add(x[i], y[i])
        out[1, i] = np.multiply(x[i], y[i])
        out[2, i] = np.bitwise_and(x[i], y[i])
        out[3, i] = np.right_shift(x[i], 1)
        out[4, i] = np.positive(np.negative(x[i]))
        out[5, i] = np.invert(x[i])


@pytest.mark.parametrize("kind", ["int8", "uint8", "uint64"])
@pytest.mark.parametrize("target", TARGETS)
def test_operators_by_call(kind: str, target: str) -> None:
    x = np.array(CELLS[kind], kind)
    same(target, named_operators, x, x[::-1].copy(), np.zeros((6, len(x)), kind))


def rounded(x):
    return np.round(x), np.fix(x) * 2, np.sign(abs(x))


def rounded_to_a_digit(x):
    return np.round(x, 1)


@pytest.mark.parametrize("kind", ["int8", "uint8", "uint64", "float32"])
@pytest.mark.parametrize("target", ["python", "cpu"])
def test_whole_arrays(kind: str, target: str) -> None:
    x = np.array(CELLS[kind], kind)
    found, wanted = tile(target=target)(rounded)(x.copy()), rounded(x)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    same(target, rounded_to_a_digit, x)


def test_truth_values_become_float16_where_they_are_rounded() -> None:
    with pytest.raises(LoweringError, match="float16"):
        tile(target="cpu")(rounded_to_none)(np.array([True, False]))
    same("emulate", rounded_to_none, np.array([True, False]))


def rounded_to_none(x):
    return np.round(x)


def retyped(x, out):
    y = x.astype(np.float32, copy=False)
    for i in range(len(out)):
        y[i] = y[i] + 1
    for i in range(len(out)):
        out[i] = x[i]


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_cast_without_a_copy_is_the_array_itself(kind: str, target: str) -> None:
    same(target, retyped, np.arange(5).astype(kind), np.zeros(5, kind))


REFUSED = {
    "gcd": ("emulate", "numba.cuda has no np.gcd"),
    "logaddexp": ("emulate", "numba.cuda has no np.logaddexp"),
    "spacing": ("cpu", "np.spacing"),
    "reciprocal": ("cpu", "np.reciprocal of the integer 0"),
    "bitwise_count": ("cpu", "numba cannot compile"),
}


def of_two(x, out):
    for i in range(len(x)):
        out[i] = np.gcd(x[i], x[i])


def sums_of_powers(x, out):
    for i in range(len(x)):
        out[i] = np.logaddexp(x[i], x[i])


def distances(x, out):
    for i in range(len(x)):
        out[i] = np.spacing(np.float32(x[i]))


def inverted(x, out):
    for i in range(len(x)):
        out[i] = np.reciprocal(x[i])


def counted(x, out):
    for i in range(len(x)):
        out[i] = np.bitwise_count(x[i])


@pytest.mark.parametrize(
    ("function", "case"),
    list(zip([of_two, sums_of_powers, distances, inverted, counted], REFUSED, strict=True)),
)
def test_what_no_target_can_is_refused_with_what_to_write(
    function: Callable[..., None], case: str
) -> None:
    target, message = REFUSED[case]
    with pytest.raises(LoweringError, match=message) as caught:
        tile(target=target)(function)(np.arange(1, 4), np.zeros(3))
    told = caught.value.diagnostic
    assert told.span is not None
    assert told.span.line > 150
    assert "write" in told.hints[0]


def test_the_functions_that_a_gpu_has_are_those_of_numba() -> None:
    ufuncs = pytest.importorskip("numba.cuda.ufuncs")
    assert {each.__name__ for each in ufuncs.ufunc_db()} == functions.OF_NUMPY


def steps(x, y):
    for i in range(len(x)):
        y[i] = np.heaviside(x[i], y[i])


def test_a_step_is_computed_by_many_threads() -> None:
    x = np.array(REAL, np.float32)
    same("emulate", steps, x, x[::-1].copy())
