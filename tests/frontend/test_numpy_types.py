"""Types of arrays that are computed with numbers which NumPy makes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from astile import tile
from tests.support.plain_forms import kernel, outcome


def roots(x, s):
    return x * np.sqrt(s), x[:] / np.sqrt(2.0), x[:] * np.square(3), x[:] * np.exp(-x.shape[0])


def chosen(x, s):
    return x[:] * np.maximum(s, 0.5), x[:] * np.abs(s), x[:] * np.minimum(x[0], 0.5)


def rounded(x, s):
    return x[:] * round(s, 1), x[:] * round(s), x[:] * math.floor(s), x[:] * np.floor(s)


def named(x, s):
    t = 0.5
    for _i in range(3):
        t = np.sqrt(t)
    u = x[:] * t
    return u


def pythons(x, s):
    return x[:] * s, x[:] * math.sqrt(2.0), x[:] * x.shape[0] ** 0.5, x[:] * np.pi, x[:] * 2**3


def reduced(x, s):
    return x[:] * np.sum(x[:]), x[:] * x.max(), x[:] * x.mean(), x[:] * np.prod(x[:] * 2)


def counted(x, s):
    return x[:] * np.sum(x[:] > 1), x[:] * np.argmax(x[:]), x[:] * np.count_nonzero(x)


@pytest.mark.parametrize("number", [2.5, 3, np.float32(2.5), np.int8(3)], ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize("function", [roots, chosen, rounded, named, pythons, reduced, counted])
def test_numbers_of_numpy_decide_types(function, dtype, number):
    x = np.arange(4).astype(dtype)
    found, wanted = tile(target="python")(function)(x, number), function(x, number)
    if isinstance(wanted, np.ndarray):
        found, wanted = (found,), (wanted,)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("target", ["cpu", "emulate"])
@pytest.mark.parametrize("function", [roots, chosen, reduced])
def test_on_other_targets(function, target):
    x = np.arange(4.0) + 0.1
    for one, other in zip(tile(target=target)(function)(x, 2.5), function(x, 2.5), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-12)


def logarithm_beside_rows(x, out):
    for i in range(x.shape[0]):
        t = np.log(x[i, 0])
        out[i, :] = x[i, :] - t


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("cells", ["float32", "float64"])
def test_cells_are_numbers_of_numpy_as_well(dtype, cells):
    x, one, other = np.full((2, 3), 5, dtype), np.ones((2, 3), cells), np.ones((2, 3), cells)
    logarithm_beside_rows(x, one)
    tile(target="emulate")(logarithm_beside_rows)(x, other)  # has no form without loops
    np.testing.assert_allclose(one, other, rtol=1e-6)


LOCAL = (
    *("C ** 2", "np.square(C)", "np.sqrt(C)", "np.sign(C) * 2", "np.mod(C, 3)", "C * C.max()"),
    *("C * np.dot(C, C)", "C * np.sqrt(2.0)", "C * np.sum(C > 0)", "C * C.sum()", "C * C.mean()"),
    *("C * np.sqrt(n)", "C * np.sign(n)", "C * 2 ** int(n)", "C * round(n, 1)", "np.round(C)"),
)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "float32", "float64"])
@pytest.mark.parametrize("value", LOCAL)
def test_arrays_of_the_function(value, dtype):
    body = f"C = np.ones(3, np.{dtype})\nC[1] = 3\nreturn {value}"
    for number in (2.5, 3, np.float32(2.5)):
        space = {"np": np}
        exec("def plain(n):\n    " + body.replace("\n", "\n    "), space)
        assert outcome(kernel(body, "n"), number) == outcome(space["plain"], number)


#: Numbers that are of Python in some runs and of NumPy in others -> what is done before.
ONE_OF_SEVERAL = {
    "x * (np.float64(0.1) if n > 1 else 0.1)": "",
    "np.sum(x * (np.float64(0.1) if n > 1 else 0.1))": "",
    "x * max(C[0], 0.1)": "C = np.zeros(2)",
    "x * min(C[0] + 0.5, 0.1) + 0.1": "C = np.zeros(2)",
    "x * (n or np.float64(2))": "",
    "x * f": "f = 0.1\nif n > 1:\n    f = np.float64(0.1)",
    "x * f * 2": "f = np.float64(0.1)\nif n > 1:\n    f = 0.1",
    "x + f": "f = 0.1\nfor i in range(int(n) - 2):\n    f = f + np.sqrt(2.0)",
    "np.mean(x - f)": "f = 0.1\nfor i in range(int(n) - 2):\n    f += np.sqrt(2.0)",
    "x * f * 0.1": "f, g = 0.1, np.float64(0.1)",
    "x * 2 ** f": "f = 3 if n > 2 else np.float64(3)",
    "x * np.sqrt(f)": "f = np.float32(3) if n > 2 else np.float64(3)",
    "C * f": "C = np.ones(3, np.int64)\nf = 2 if n > 2 else 2.5",
    "x[:] * np.sum(C * f)": "C = np.ones(3, np.float32)\nf = 2 if n > 2 else np.float64(2)",
}


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64"])
@pytest.mark.parametrize("value", ONE_OF_SEVERAL)
def test_numbers_of_which_one_is_chosen(value, dtype):
    body = f"{ONE_OF_SEVERAL[value]}\nreturn {value}".strip()
    space = {"np": np}
    exec("def plain(x, n):\n    " + body.replace("\n", "\n    "), space)
    scheduled, x = kernel(body, "x, n"), np.arange(1, 5).astype(dtype)
    for number in (0.5, 3, np.float32(2.5)):
        assert outcome(scheduled, x, number) == outcome(space["plain"], x, number)


@pytest.mark.parametrize("value", ["x[:] * f", "np.max(x[:] * f)"])
def test_numbers_of_which_one_is_chosen_become_loops_where_all_give_one_type(value):
    body = f"f = 0.1\nif n > 1:\n    f = np.float32(0.1)\nreturn {value}"
    assert "    for i in " in kernel(body, "x, n").source("python")


PAIRS = [("float32", "uint8"), ("float64", "int16"), ("int8", "float32")]
MIXED = (
    *("k * 0.5 + x", "x + k / 2", "k * 0.5 * x", "x * 0.5 * k", "x * k * 0.5", "(x > 0) * x * 0.5"),
    *("(x > 0) * 0.5 * x", "(k > 1) * 2 * k", "x * np.sqrt(k)", "np.hypot(k, 2.5) * x"),
    *("k + np.abs(np.mean(x))", "(x - k.mean()) / k.std()", "x * np.linalg.norm(k)"),
)


@pytest.mark.parametrize(
    "dtypes", [("float32", "uint8"), ("float64", "int16"), ("int8", "float32")]
)
@pytest.mark.parametrize("value", MIXED)
def test_what_meets_first_decides(value, dtypes):
    x, k = (np.arange(1, 5).astype(each) for each in dtypes)
    body = "return " + value.replace("x", "x[:]").replace("k", "k[:]")
    space = {"np": np}
    exec(f"def plain(x, k):\n    {body}", space)
    found, wanted = kernel(body, "x, k")(x, k), space["plain"](x, k)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_values_are_rounded_to_the_cells_they_are_stored_in():
    def scaled(k, y):
        y[:] = k[:] * 0.5 + y[:]

    k, y = np.arange(1, 5, dtype=np.uint8), np.full(4, 0.1, np.float32)
    wanted = y.copy()
    scaled(k, wanted)
    made = tile(target="cpu")(scaled)
    assert "for i in range" in made.source() or "for i in parallel" in made.source()
    made(k, y)
    np.testing.assert_array_equal(y, wanted)
