"""Functions of NumPy in kernels: those that numba.cuda cannot compile, by others."""

from __future__ import annotations

import numpy as np
import pytest

from astile import tile
from astile.errors import LoweringError
from astile.lower import cuda
from astile.lower.lowered import Lowered
from astile.runtime import emulate, machine_code
from tests.support.programs import program_from

OF_ONE = ["abs", "absolute", "ceil", "floor", "rint", "sign", "square", "trunc", "exp2", "isinf"]
OF_TWO = ["copysign", "fmod"]
REAL = [0.0, -0.0, 0.5, -0.5, 1.5, -2.5, 3.25, -7.75, 1e10, np.inf, -np.inf, np.nan]
WHOLE = [0, 1, -1, 7, -(2**31), 2**31 - 1]


def lowered(value: str, kind: str, *, plain: bool = False) -> Lowered:
    text = f"""
    def f(x, y):
        for b in block.x(len(x)):
            y[b] = {value}
    """
    return cuda.lower(program_from(text), types={"x": kind, "y": kind}, plain=plain)


def called(name: str) -> str:
    return f"np.{name}(x[b])" if name in OF_ONE else f"np.{name}(x[b], y[b])"


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", [*OF_ONE, *OF_TWO])
def test_values_and_code_for_real_numbers(name: str, kind: str) -> None:
    made = lowered(called(name), kind)
    assert f"np.{name}(" not in made.text
    x, y = np.array(REAL, kind), np.full(len(REAL), -2, kind)
    function = getattr(np, name)
    with np.errstate(all="ignore"):
        wanted = (function(x) if name in OF_ONE else function(x, y)).astype(kind)
        emulate.load(made.text, made.entry)(x, y)
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(np.signbit(y), np.signbit(wanted))
    compiled(made, x, y)


def compiled(made: Lowered, *arguments: np.ndarray) -> None:
    try:
        machine_code.of(made, arguments, {}, (9, 0))
    except LoweringError as error:
        if error.code != "lowering.missing":
            raise
        pytest.skip(str(error.diagnostic.notes))


@pytest.mark.parametrize("name", ["abs", "sign", "square"])
def test_values_and_code_for_integers(name: str) -> None:
    made = lowered(called(name), "int32")
    x, y = np.array(WHOLE, np.int32), np.zeros(len(WHOLE), np.int32)
    emulate.load(made.text, made.entry)(x, y)
    np.testing.assert_array_equal(y, getattr(np, name)(x))
    compiled(made, x, y)


def test_the_simulator_has_those_of_numpy() -> None:
    assert "np.floor(" in lowered("np.floor(x[b])", "float32", plain=True).text


@pytest.mark.parametrize("target", ["cpu", "emulate"])
@pytest.mark.parametrize("kind", ["uint8", "uint64", "int64", "float32", "float64"])
def test_the_sign_is_one_of_a_zero_and_of_large_unsigned_numbers(kind: str, target: str) -> None:
    def f(x, y):
        for i in range(len(x)):
            y[i] = np.sign(x[i]) * 2

    real = kind.startswith("float")
    x = np.array([-0.0, 0, 3, np.nan, -2] if real else [0, 1, 200, 3, 7], kind)
    if not real:
        x[3] = np.iinfo(kind).max
    y, wanted = np.ones_like(x), np.ones_like(x)
    f(x, wanted)
    tile(target=target)(f)(x, y)
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(np.signbit(y) & ~np.isnan(y), np.signbit(wanted))


@pytest.mark.parametrize("target", ["cpu", "emulate"])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_whole_division_as_a_function_is_the_operator(kind: str, target: str) -> None:
    def f(x, y):
        for i in range(len(x)):
            y[i] = np.floor_divide(x[i], y[i])

    x = np.array([-np.inf, np.inf, 2.5, 2.5, -7, np.nan, 0, 1], kind)
    y = np.array([-0.5, 2, -np.inf, np.inf, 2, 1, 0, 0], kind)
    wanted = y.copy()
    with np.errstate(all="ignore"):
        f(x, wanted)
    tile(target=target)(f)(x, y)
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("target", ["cpu", "emulate"])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_negative_powers_of_zero_are_infinite(kind: str, target: str) -> None:
    def f(x, y, n):
        for i in range(len(x)):
            y[i] = x[i] ** -1 + x[i] ** -2 + x[i] ** n

    x = np.array([0, 2, -4, np.inf], kind)
    for n in (-1, -2, 3):
        y, wanted = np.ones_like(x), np.ones_like(x)
        with np.errstate(all="ignore"):
            f(x, wanted, n)
        tile(target=target)(f)(x, y, n)
        np.testing.assert_allclose(y, wanted, rtol=1e-6)
