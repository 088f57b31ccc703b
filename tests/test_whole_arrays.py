"""Kernels that use their parameters as whole arrays only: what they are is known at the call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from astile import ArgumentError, tile
from astile.kernel import Kernel
from tests.support.plain_forms import outcome


def scaled(x, y):
    y[:] = x * 2


def added(x, y):
    y += x


def weighted(x, y):
    y[:] = 0.5 * x + y - 1


def hypotenuse(x, y):
    y[:] = np.sqrt(x * x + y * y)


def named(x, y):
    t = x * 2 + 1
    u = t - y
    y[:] = u * t


def returned(x, y):
    return x + y


def several(x, y):
    t = np.maximum(x, y)
    return t, x - y, 3


def chosen(x, y):
    y[:] = np.where(x > 0.5, x, -y)


def masked(x, y):
    inside = (x > 0.25) & (y < 0.75)
    return inside


def turned(x, y):
    y[:] = y[::-1]
    y += x


def run(x, y):
    y[1:] = y[:-1] * 2
    y[:-1] += y[1:]


def repeated(x, y):
    for i in range(3):
        y += x * i
        y *= 0.5


def in_place(x, y):
    y *= y
    y -= y[::-1] * x


ELEMENTWISE = (
    *(scaled, added, weighted, hypotenuse, named, returned, several, chosen, masked, turned),
    *(run, repeated, in_place),
)
#: Numba takes a second for each type of what it compiles, so it compiles some of them.
ON_TARGETS = [
    *((function, target) for function in ELEMENTWISE for target in ("python", "emulate")),
    *((function, "cpu") for function in (named, several, chosen, turned, in_place)),
]
SHAPES: dict[str, tuple[tuple[int, ...] | float, tuple[int, ...]]] = {
    "row": ((5,), (5,)),
    "no cell": ((0,), (0,)),
    "one cell": ((1,), (1,)),
    "grid": ((5, 3), (5, 3)),
    "grid without rows": ((0, 3), (0, 3)),
    "grid without columns": ((3, 0), (3, 0)),
    "row to grid": ((3,), (5, 3)),
    "number": (0.75, (5,)),
    "integer": (2, (5,)),
}
#: Where one cell or one column stands for many, loops over cells are another program.
STRETCHED = {
    "cell to row": ((1,), (5,)),
    "column to grid": ((5, 1), (5, 3)),
    "different": ((4,), (5,)),
    "more axes": ((1, 5), (5,)),
}


def arrays(shapes: tuple[Any, Any], dtypes: tuple[str, str]) -> list[Any]:
    """Numbers from 0 to 1, or integers."""
    random = np.random.default_rng(0)
    found: list[Any] = []
    for shape, dtype in zip(shapes, dtypes, strict=True):
        if not isinstance(shape, tuple):
            found.append(shape)
            continue
        found.append((random.random(shape) * (1 if dtype[0] == "f" else 9)).astype(dtype))
    return found


@functools.cache
def kernel(function: Callable[..., Any], target: Any) -> Kernel[..., Any]:
    """One for all tests, so that it is compiled once for each type."""
    return tile(target=target)(function)


@pytest.mark.parametrize(("function", "target"), ON_TARGETS)
@pytest.mark.parametrize("shape", SHAPES)
def test_cells_are_those_of_the_function(function, shape, target):
    values = arrays(SHAPES[shape], ("float64", "float64"))
    assert outcome(kernel(function, target), *values) == outcome(function, *values)


@pytest.mark.parametrize(
    ("function", "target"), [each for each in ON_TARGETS if each[1] != "emulate"]
)
@pytest.mark.parametrize("shape", STRETCHED)
def test_what_is_stretched_runs_as_it_was_written(function, shape, target):
    values = arrays(STRETCHED[shape], ("float64", "float64"))
    assert outcome(kernel(function, target), *values) == outcome(function, *values)


@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
@pytest.mark.parametrize(
    "dtypes",
    [
        ("float32", "float32"),
        ("float64", "float32"),
        ("int64", "int64"),
        ("uint8", "uint8"),
        ("uint8", "int32"),
        ("bool", "float32"),
    ],
)
@pytest.mark.parametrize("function", [weighted, hypotenuse, named, returned, chosen, run])
def test_cells_of_other_types(function, dtypes, target):
    values = arrays(((5,), (5,)), dtypes)
    found = outcome(kernel(function, target), *values)
    assert found == outcome(function, *values) or found == "LoweringError"


def reduced(x):
    s = np.sum(x**2)
    return s, x.mean(), np.max(x * 2)


def normalised(x):
    return (x - x.mean()) / np.sqrt(np.mean(x * x))


def softmax(x):
    e = np.exp(x - x.max())
    e /= e.sum()
    return e


@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
@pytest.mark.parametrize("shape", [(1,), (5,), (3, 4)])
@pytest.mark.parametrize("function", [reduced, normalised, softmax])
def test_sums_of_what_is_computed(function, shape, target):
    x = np.random.default_rng(3).random(shape)
    found, wanted = kernel(function, target)(x), function(x)
    for one, other in zip(
        *((each if isinstance(each, tuple) else (each,)) for each in (found, wanted)), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
def test_the_same_kernel_takes_numbers_and_arrays(target):
    made = kernel(returned, target)
    assert made(2.0, 3.5) == 5.5
    np.testing.assert_array_equal(made(np.ones(3), 2.0), np.full(3, 3.0))
    np.testing.assert_array_equal(made(np.ones((2, 3)), np.ones((2, 3))), np.full((2, 3), 2.0))
    assert made(2, 3) == 5


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_arrays_that_meet_in_memory_run_as_they_were_written(target):
    line, plain = np.arange(8.0), np.arange(8.0)
    kernel(scaled, target)(line[:-1], line[1:])
    scaled(plain[:-1], plain[1:])
    np.testing.assert_array_equal(line, plain)


def loops(x, out):
    for i in range(out.shape[0]):
        t = x * 2
        s = t
        t += 1
        out[i, :] = s


def test_names_of_arrays_that_are_updated():
    made = tile(target="python", schedule=lambda s: s.split("i", [None, 2]))(loops)
    out, wanted = np.zeros((3, 2)), np.zeros((3, 2))
    made(np.ones(2), out)
    loops(np.ones(2), wanted)
    np.testing.assert_array_equal(out, wanted)


def test_one_cell_stands_for_many():
    def shifted(y, k):
        y[k:] = y[:k] * 2.0

    made = tile(target="cpu")(shifted)
    for cells, k in ((1, 1), (2, 1), (4, 1), (1, 0), (4, 3)):
        values = [np.arange(1.0, cells + 1), k]
        assert outcome(made, *values) == outcome(shifted, *values)


def test_what_is_no_number_and_no_array():
    with pytest.raises(ArgumentError, match="expected a number or an array"):
        kernel(returned, "python")("2", 1.0)


def test_an_array_without_axes_where_a_number_or_an_array_is_meant():
    made = kernel(returned, "python")
    with pytest.raises(ArgumentError, match="expected a number, or an array with axes"):
        made(np.array(2.0), 1.0)
