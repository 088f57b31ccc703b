"""Functions of NumPy in kernels: those that numba.cuda cannot compile, by others."""

from __future__ import annotations

import numpy as np
import pytest

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
