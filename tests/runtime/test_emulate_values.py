"""Values in emulated kernels are those of the device: numba's types, and nothing of NumPy's."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

from astile.runtime import emulate
from astile.runtime.emulate import EmulationError

HEAD = """
import math
import numpy as np
from numba import (
    boolean, cuda, float32, float64, int8, int32, int64, uint8, uint32, uint64,
)
THIRD = 1 / 3
WIDTH = np.uint32(6)
"""


def evaluate(expression: str, dtype: Any = np.float64, setup: str = "pass", **given: Any) -> Any:
    """Value of an expression in a kernel of one thread."""
    names = ", ".join([*given, "out"])
    text = f"""{HEAD}
@cuda.jit
def kernel({names}):
    {setup}
    out[0] = {expression}

def run({names}):
    kernel[1, 1]({names})
"""
    out = np.zeros(1, dtype)
    emulate.load(text, "run")(*given.values(), out)
    return out[0]


F = np.float32


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # float32 stays float32, a real literal is a float64, an integer makes a float64
        ("x * y", F(1.1) * F(3.3)),
        ("x * 0.1", float(F(1.1)) * 0.1),
        ("x * float32(0.1)", F(1.1) * F(0.1)),
        ("x * 3", float(F(1.1)) * 3),
        ("x * i", float(F(1.1)) * 7),
        ("x * float32(i)", F(1.1) * F(7)),
        ("x * a[0]", F(1.1) * F(200)),
        ("x * THIRD", float(F(1.1)) * (1 / 3)),
        ("x * math.pi", float(F(1.1)) * np.pi),
        ("x ** 2", F(1.1) ** 2),
        ("x ** i", F(1.1) ** 7),
        ("x ** 0.5", float(F(1.1)) ** 0.5),
        ("i ** x", 7 ** float(F(1.1))),
        ("i / 2", 3.5),
        ("x / 0", np.inf),
        ("i / 0", np.inf),
        ("(x if i > 3 else 2) * y", float(F(1.1)) * float(F(3.3))),
        ("max(x, 0.0) * y", float(F(1.1)) * float(F(3.3))),
        ("float(i) * x", 7.0 * float(F(1.1))),
        ("math.sqrt(x)", np.sqrt(F(1.1))),
        ("math.sqrt(2)", np.sqrt(2.0)),
        ("math.sqrt(-x)", np.nan),
        ("math.exp(1000.0)", np.inf),
        ("math.erf(x)", F(math.erf(F(1.1)))),
        ("math.floor(x)", 1.0),
        ("np.sqrt(x)", np.sqrt(F(1.1))),
    ],
)
def test_reals(expression: str, expected: float) -> None:
    given = {"x": F(1.1), "y": F(3.3), "i": 7, "a": np.array([200], np.uint8)}
    result = evaluate(expression, **given)
    assert result == pytest.approx(float(expected), rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("uint32(3) - uint32(5)", 2**64 - 2),
        ("uint32(uint32(3) - uint32(5))", 2**32 - 2),
        ("u - uint32(8) + 1", 0),
        ("u - 8", -1),
        ("a[0] + a[0]", 400),
        ("a[0] - a[1]", 2**64 - 50),
        ("int64(a[0]) - a[1]", -50),
        ("uint8(300)", 44),
        ("int8(200)", -56),
        ("int32(2.9)", 2),
        ("-uint32(1)", 2**32 - 1),
        ("~uint32(0)", 2**32 - 1),
        ("uint64(1) << uint64(63) << uint64(1)", 0),
        ("u * uint64(18446744073709551615)", 2**64 - 7),
        ("(i > 3) + (i > 4)", 2),
        ("-(i > 3)", -1),
        ("i + boolean(3)", 8),
        ("WIDTH - uint32(7)", 2**64 - 1),
        ("(uint32(1) if i < 0 else u) - uint32(8)", 2**64 - 1),
        ("1 if u - uint32(8) < uint32(100) else 2", 2),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("int(2.7) + int(x)", 3),
        ("min(u, uint32(3))", 3),
        ("len(a) + a.size + a.shape[0] + a.ndim", 7),
        ("cuda.popc(uint32(7))", 3),
        ("cuda.selp(i > 3, 5, 6)", 5),
    ],
)
def test_integers(expression: str, expected: int) -> None:
    given = {
        "u": np.uint32(7), "i": 7, "x": F(1.1), "a": np.array([200, 250], np.uint8),
    }  # fmt: skip
    dtype = np.uint64 if expected >= 2**63 else np.int64
    assert evaluate(expression, dtype, **given) == expected


@pytest.mark.parametrize(
    ("setup", "expression", "expected"),
    [
        ("t = u; t -= uint32(8)", "t", 2**64 - 1),
        ("t = uint32(0); t += x", "t", 1.1),
        ("t = (u, i); p, q = t", "p - uint32(8)", 2**64 - 1),
        ("n: int = 3; m: int", "n", 3),
        ("s = float32(0)\n    for k in range(3): s = s + x * 0.1", "s * x", 0.363),
        ("t = uint32(0)\n    while t < u: t += uint32(2)", "t", 8),
        ("t = (y := u)", "y - t", 0),
    ],
)
def test_variables_are_typed_over_all_their_assignments(
    setup: str, expression: str, expected: float
) -> None:
    dtype = np.uint64 if expected >= 2**63 else np.float64
    result = evaluate(expression, dtype, setup, u=np.uint32(7), i=7, x=F(1.1))
    assert result == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("setup", "expression", "expected"),
    [
        ("t = k[0]; t += x", "t", 2**24 + 1 + float(F(1.1))),
        ("t = k[0]; t = x - t", "t", float(F(1.1)) - 2**24 - 1),
        ("t = k[0] if i > 9 else x; t = k[1]; t *= x", "t", (2**24 + 3) * float(F(1.1))),
        ("t = k[0]; t = t > y; t += x", "t", 1 + F(1.1)),
        ("t = b[0]; t += x", "t", 7 + F(1.1)),  # eight bits fit into a float32
        ("t = b[0]; t *= b[0] * 100; t += 0.5", "t", 4900.5),  # and are 64 once they are computed
        ("pass", "k[0] > y", True),
        ("pass", "y == k[0]", False),
        ("pass", "y < k[0] < k[1] <= 2.0 ** 24 + 3", True),
        ("pass", "y < k[0] and not k[0] < y < 1 / b[0]", True),
    ],
)
def test_an_integer_that_meets_float32_makes_float64(
    setup: str, expression: str, expected: float
) -> None:
    given = {"x": F(1.1), "y": F(2**24), "i": 7, "b": np.array([7], np.int8)}
    cells = np.array([2**24 + 1, 2**24 + 3])
    assert evaluate(expression, np.float64, setup, k=cells, **given) == expected


@pytest.mark.parametrize(
    ("dtype", "value", "stored"),
    [
        (np.uint8, "300", 44),
        (np.int32, "2147483648", -(2**31)),
        (np.float32, "0.1", F(0.1)),
        (np.float16, "100000.0", np.inf),
        (np.bool_, "5", True),
        (np.complex64, "2.5", 2.5),
    ],
)
def test_stores_convert_to_the_element_type(dtype: Any, value: str, stored: Any) -> None:
    assert evaluate(value, dtype) == stored


@pytest.mark.parametrize("expression", ["int32(x)", "int(x)", "uint8(x)"])
def test_nan_has_no_integer(expression: str) -> None:
    with pytest.raises(EmulationError, match="NaN to integer") as caught:
        evaluate(expression, np.int32, x=F(np.nan))
    assert "thread (0, 0, 0) of block (0, 0, 0)" in str(caught.value)
    assert f"out[0] = {expression}" in str(caught.value)


def test_an_error_of_python_names_thread_and_line() -> None:
    with pytest.raises(EmulationError, match="ZeroDivisionError in thread") as caught:
        evaluate("1 // i", i=0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_warnings_are_not_raised_for_what_a_device_does_silently() -> None:
    assert evaluate("x * x * x", np.float32, x=F(1e30)) == np.inf


# --- the launch ---------------------------------------------------------------------------------


INDICES = """
from numba import cuda
@cuda.jit
def kernel(out):
    x, y, z = cuda.grid(3)
    w, h, d = cuda.gridsize(3)
    i, j = cuda.grid(2)
    out[z, y, x, 0] = (
        cuda.threadIdx.x + 10 * cuda.blockIdx.x + 100 * cuda.blockDim.x + 1000 * cuda.gridDim.x
    )
    out[z, y, x, 1] = cuda.threadIdx.y + 10 * cuda.blockIdx.y + 100 * cuda.blockDim.y
    out[z, y, x, 2] = cuda.threadIdx.z + 10 * cuda.blockIdx.z + 100 * cuda.gridDim.z
    out[z, y, x, 3] = w + 10 * h + 100 * d + 1000 * (i + j)
    out[z, y, x, 4] = cuda.laneid + 100 * cuda.warpsize
def run(out):
    kernel[(2, 1, 3), (2, 3)](out)
"""


@pytest.mark.parametrize("order", ["forward", "reverse", 5])
def test_every_thread_knows_its_place(order: emulate.Order) -> None:
    out = np.zeros((3, 3, 4, 5), np.int64)
    emulate.load(INDICES, "run", order=order)(out)
    for z, y, x in np.ndindex(3, 3, 4):
        assert out[z, y, x].tolist() == [
            x % 2 + 10 * (x // 2) + 200 + 2000,
            y + 300,
            10 * z + 300,
            4 + 30 + 300 + 1000 * (x + y),
            x % 2 + 2 * y + 3200,
        ]


@pytest.mark.parametrize(
    "imports",
    [
        "from numba import cuda, uint32",
        "import numba\nfrom numba import uint32\ncuda = numba.cuda",
        "import numba.cuda\nfrom numba import uint32 as uint32\ncuda = numba.cuda",
        "import numpy, numba as nb\nuint32, cuda = nb.uint32, nb.cuda",
        "import numba.cuda as cuda\nfrom numba import uint32",
        "from numba import cuda, uint32, void, float32\nSIG = void(float32[:, ::1], uint32)",
    ],
)
def test_numba_is_replaced_however_it_is_imported(imports: str) -> None:
    text = f"""
from __future__ import annotations
{imports}
@cuda.jit(None)
def kernel(out):
    out[uint32(cuda.threadIdx.x)] = 1
def run(out):
    kernel[1, 4](out)
"""
    before = set(sys.modules)
    out = np.zeros(4, np.float32)
    emulate.load(text, "run")(out)
    assert out.tolist() == [1, 1, 1, 1]
    assert not {name for name in set(sys.modules) - before if name.startswith("numba")}


def test_a_lazy_import_in_the_host_function_is_replaced_too() -> None:
    text = """
def run(out):
    from numba import cuda
    @cuda.jit
    def kernel(a, factor=3):
        a[cuda.threadIdx.x] = factor * scale
    scale = 2
    kernel[1, 2](out)
"""
    out = np.zeros(2, np.int32)
    emulate.load(text, "run")(out)
    assert out.tolist() == [6, 6]


def test_device_functions() -> None:
    text = """
import math
from numba import cuda, float32, uint32
@cuda.jit("float32(float32, float32)", device=True, inline="always")
def clamp(value, limit=0.5):
    return min(value, limit)
@cuda.jit(device=True)
def first(row):
    return row[0] - row[1]
@cuda.jit(device=True)
def rotate(tile, i):
    cuda.syncthreads()
    value = tile[(i + 1) % 4]
    cuda.syncthreads()
    return value
@cuda.jit
def kernel(a, u, out):
    tile = cuda.shared.array(4, float32)
    i = cuda.threadIdx.x
    tile[i] = a[0, i]
    tile[i] = rotate(tile, i)
    cuda.syncthreads()
    out[i] = clamp(rotate(tile, i), limit=float32(9))
    if i == 0:
        out[4] = first(u)
def run(a, u, out):
    kernel[1, 4](a, u, out)
"""
    a, u, out = np.arange(4, dtype=F)[None], np.array([1, 2], np.uint8), np.zeros(5)
    emulate.load(text, "run")(a, u, out)
    assert out.tolist() == [2, 3, 0, 1, 2.0**64]


@pytest.mark.parametrize("count", [1, 3])
def test_a_loop_over_a_part_of_an_array_ends_with_it(count: int) -> None:
    text = HEAD + (
        "@cuda.jit\ndef kernel(x, out):\n    for a, b in zip(x[:-1], x[1:]):\n"
        "        out[0] += a * b\n\ndef run(x, out):\n    kernel[1, 1](x, out)\n"
    )
    x, out = np.arange(1.0, count + 1), np.zeros(1)
    emulate.load(text, "run")(x, out)
    assert out[0] == sum(x[:-1] * x[1:])


@pytest.mark.parametrize("kind", ["int8", "int16", "uint8"])
def test_functions_of_numpy_keep_the_type_of_small_integers(kind: str) -> None:
    a = np.array([100, 100], kind)
    assert evaluate("np.sign(abs(a[0])) * x", a=a, x=F(0.1)) == F(0.1)
    assert evaluate("np.maximum(abs(a[0]), a[1]) * x", a=a, x=F(0.1)) == F(100) * F(0.1)


def test_functions_of_numpy_take_unsigned_integers_of_64_bits() -> None:
    assert (
        evaluate("np.maximum(a[0], a[1])", np.uint64, a=np.array([2**64 - 1, 3], "u8")) == 2**64 - 1
    )
    assert evaluate("math.exp(a[0])", a=np.array([True, False])) == np.exp(1.0)
