"""The form of CPU text, and the numba traps that it keeps clear of."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from astile.lower import cpu, python
from tests.support.scheduled import program


def text_of(text: str, **fields: object) -> str:
    return cpu.lower(program(text, **fields)).text


def run(text: str, *arguments: object) -> object:
    namespace: dict[str, object] = {}
    exec(compile(text, "<f>", "exec"), namespace)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numba warns of unsafe parallel loops
        return namespace["f"](*arguments)  # type: ignore[operator]


def test_what_may_raise_stays_on_one_core() -> None:
    text = """
    def f(k, x):
        for i in parallel(4):
            x[i] = k // (k - i)
    """
    types = {"k": "int", "x": "int64"}
    assert "prange" not in cpu.lower(program(text), types=types).text
    calm = program(text.replace("k // (k - i)", "k - i"))
    assert "prange" in cpu.lower(calm, types=types).text
    assert "prange" not in cpu.lower(calm, types=types, one_core=True).text


def test_indices_of_loops_inside_one_on_several_cores_are_unsigned() -> None:
    """Where the innermost loop and that on several cores make an index together."""
    text = """
    def f(x, y, n):
        for i in parallel((n + 3) // 4):
            for j in range(4):
                if i * 4 + j < n:
                    y[i * 4 + j, 0] = x[i * ((n + 3) // 4) + j]
                    for k in range(2):
                        y[i * 4 + j, k] += x[i - 1] + x[k - i] + x[i]
        for i in parallel(n - 1):
            y[i, 1] += x[i + 1] - x[i - 1]
    """
    found = text_of(text, integers=frozenset("n"))
    assert "y[uint64(i * 4 + j), 0] = x[uint64(i * ((n + 3) // 4) + j)]" in found
    assert "y[i * 4 + j, k] += x[i - 1] + x[k - i] + x[i]" in found
    assert "y[i, 1] += x[uint64(i + 1)] - x[i - 1]" in found
    x = np.arange(16.0)
    made, expected = np.zeros((9, 2)), np.zeros((9, 2))
    run(found, x, made, 9)
    run(python.lower(program(text)).text, x, expected, 9)
    np.testing.assert_array_equal(made, expected)


def test_indices_of_loops_that_start_elsewhere_are_unsigned() -> None:
    text = """
    def f(x, y, k):
        for i in range(2, x.shape[0]):
            y[i, 0] += x[i - 2] + x[i - 3] + x[k]
        for i in range(x.shape[0]):
            for j in range(i, x.shape[0]):
                y[i, j] = x[j] if j > 4 else x[i]
        for i in range(1, x.shape[0]):
            y[i, 1] = x[i - 1]
    """
    found = text_of(text)
    assert "y[uint64(i), 0] += x[uint64(i - 2)] + x[i - 3] + x[k]" in found
    assert "y[i, uint64(j)] = x[uint64(j)] if j > 4 else x[i]" in found
    assert "y[i, 1] = x[i - 1]" in found
    assert "from numpy import uint64" in found
    x = np.arange(6.0)
    made, expected = np.zeros((6, 6)), np.zeros((6, 6))
    run(found, x, made, 1)
    run(python.lower(program(text)).text, x, expected, 1)
    np.testing.assert_array_equal(made, expected)


def test_remainders_of_what_is_near_are_compared() -> None:
    text = """
    def f(x, y):
        n = y.shape[0]
        for i in range(n):
            for k in range(-1, 2):
                y[i] += x[(i + k) % n]
    """
    types = {"x": "int64", "y": "int64"}
    near = cpu.lower(program(text), types=types).text
    assert "x[wrapped(i + k, n)]" in near
    for far in ("i + 2 * k", "i + 2 * n", "i - n - 1", "k"):
        assert "% n" in cpu.lower(program(text.replace("i + k", far)), types=types).text
    for n in (1, 2, 5):
        x, y = np.arange(n), np.zeros(n, np.int64)
        run(near, x, y)
        np.testing.assert_array_equal(y, np.roll(x, 1) + x + np.roll(x, -1))


def test_the_outermost_concurrent_loop_is_prange() -> None:
    text = text_of("""
    def f(x):
        for i in block.y(4):
            for j in block.x(4):
                for k in thread.x(4):
                    x[i, j, k] = 0
        for i in parallel(4):
            for j in unroll(2):
                for k in vector(2):
                    x[i, j, k] = 0
    """)
    assert text.count("prange(4)") == 2
    assert "for j in range(4):" in text
    assert "for k in range(4):" in text
    assert "for j in range(2):" in text
    assert "astile" not in text


@pytest.mark.parametrize(
    ("made", "dtype"),
    [
        ("np.full(3, 2, int)", np.int64),
        ("np.ones(3, bool)", np.bool_),
        ("np.zeros_like(x, dtype=complex)", np.complex128),
        ("np.arange(3).astype(float)", np.float64),
        ("np.full(3, 2)", np.int64),
    ],
)
def test_types_of_python_are_those_of_numpy(made: str, dtype: type) -> None:
    text = text_of(f"def f(x):\n    a = {made}\n    return a\n", imports={"np": "numpy"})
    found = run(text, np.zeros(3, np.float32))
    assert isinstance(found, np.ndarray)
    assert found.dtype == dtype


def test_options() -> None:
    text = "def f(x):\n    for i in range(4):\n        x[i] = 0"
    assert '@njit(error_model="numpy")' in text_of(text)  # nothing is reassociated or contracted


def test_memory_words_become_numpy() -> None:
    text = text_of(
        """
        def f(x):
            for i in block.x(4):
                tile = shared.empty((4, 4), numpy.float32)
                part = local.empty((4,), numpy.float32)
                for j in range(4):
                    tile[0, j] = 1
                    part[j] = tile[0, j]
                    x[i, j] = part[j]
        """,
        imports={"numpy": "numpy"},
    )
    assert "tile = numpy.empty((4, 4), numpy.float32)" in text
    assert "part = numpy.empty((4,), numpy.float32)" in text


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("carried", "total += x[i]"),
        ("last value", "total = x[i]"),
        ("conditional", "if x[i] > 2:\n            total = x[i]"),
    ],
)
def test_a_loop_with_a_scalar_that_leaves_it_stays_in_order(name: str, body: str) -> None:
    text = f"""
    def f(x):
        total = 0.0
        for i in parallel(len(x)):
            {body.replace("            ", "                ")}
        return total
    """
    written = text_of(text)
    assert "prange" not in written, name
    x = np.arange(5.0)
    assert run(written, x) == run(python.lower(program(text)).text, x)


def test_scalars_set_inside_a_parallel_loop_are_private() -> None:
    text = """
    def f(x, out):
        total = 100.0
        n = x.shape[0]
        for i in parallel(n):
            total = 0.0
            for j in range(x.shape[1]):
                total += x[i, j]
            out[i] = total
    """
    written = text_of(text)
    assert "prange" in written
    x, out = np.random.rand(64, 30), np.zeros(64)
    run(written, x, out)
    np.testing.assert_allclose(out, x.sum(axis=1))


def test_parallel_ranges_that_start_and_step_otherwise() -> None:
    written = text_of("""
    def f(out, n):
        for i in parallel(n, 2, -3):
            out[i] = (i - 5) * 0.5 + i // 2
    """)
    assert "for i_n in prange((n + 0) // 3)" in written or "prange(n // 3)" in written
    out = np.zeros(12)
    run(written, out, 11)
    expected = np.zeros(12)
    for i in range(11, 2, -3):
        expected[i] = (i - 5) * 0.5 + i // 2
    np.testing.assert_array_equal(out, expected)


def test_a_step_that_is_no_literal_stays_in_order() -> None:
    written = text_of("""
    def f(out, s):
        for i in parallel(0, 12, s):
            out[i] = i
    """)
    assert "range(0, 12, s)" in written
    assert "prange" not in written


def test_guards_on_parallel_indices_compute_in_signed_integers() -> None:
    written = text_of("""
    def f(out):
        n = len(out)
        for i_0 in block.x((n + 3) // 4 + 2):
            for i_1 in thread.x(4):
                if i_0 * 4 + i_1 < n:
                    out[i_0 * 4 + i_1] = i_1 - i_0 * 4
    """)
    assert "range(min(4, n - i_0 * 4))" in written
    out = np.zeros(6)
    run(written, out)
    assert out.tolist() == [0, 1, 2, 3, -4, -3]


def test_helpers_are_compiled_with_the_caller() -> None:
    inner = program("def twice(v): return v * 2.0")
    written = text_of(
        "def f(x):\n    for i in range(len(x)):\n        x[i] = twice(x[i])",
        helpers={"twice": len},
        helper_programs={"twice": inner},
    )
    assert '@njit(error_model="numpy")\ndef twice(v):' in written
    x = np.ones(3)
    run(written, x)
    assert x.tolist() == [2.0] * 3


def test_keyword_only_parameters_defaults_and_results() -> None:
    written = text_of("""
    def f(x, k=2, *, shift=1):
        total = 0
        for i in range(len(x)):
            total += x[i] * k + shift
        return total, x
    """)
    assert "def f(x, k=2, *, shift=1):\n    return f_compiled(x, k, shift)" in written
    x = np.arange(4)
    total, same = run(written, x)  # type: ignore[misc]
    assert total == 16
    assert same is x or np.shares_memory(same, x)


def test_constants_and_imports_are_those_that_are_used() -> None:
    written = text_of(
        "def f(x):\n    for i in range(N):\n        x[i] = math.sqrt(2.0) * EPS",
        constants={"N": 3, "EPS": 1e-6, "UNUSED": 4},
        imports={"math": "math", "os": "os"},
    )
    assert "N = 3" in written
    assert "EPS = 1e-06" in written
    assert "UNUSED" not in written
    assert "import os" not in written


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("np.result_type(0.0, x)", "float32"),
        ("np.result_type(x, np.int64)", "float64"),
        ("np.result_type(0, x, z)", "complex64"),
    ],
)
def test_joined_types_are_spelled_out(dtype: str, name: str) -> None:
    """Numba has no `np.result_type`."""
    text = f"""
    def f(x, z):
        t = local.empty(4, {dtype})
        for i in range(4):
            t[i] = x[i]
            x[i] = t[3]
    """
    types = {"x": "float32", "z": "complex64"}
    assert f"t = np.empty(4, np.{name})" in cpu.lower(program(text), types=types).text
    assert dtype in cpu.lower(program(text)).text
