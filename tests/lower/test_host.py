"""What stays on the host, and what comes back from the device."""

from __future__ import annotations

import numpy as np
import pytest

from astile.errors import LoweringError
from astile.lower import cuda
from astile.lower.kernels import fences
from astile.lower.lowered import Lowered
from astile.runtime import emulate
from tests.support.scheduled import program


def lower(text: str, types: dict[str, str] | None = None, **fields: object) -> Lowered:
    return cuda.lower(program(text, **fields), types=types, barriers=fences.find)


def test_loops_around_nests_launch_from_the_host() -> None:
    lowered = lower("""
    def jacobi(A, B, steps):
        n = A.shape[0]
        for t in range(steps):
            for i in block.x(n):
                if 1 <= i < n - 1:
                    B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3
            if t >= 0:
                for i in block.x(n):
                    if 1 <= i < n - 1:
                        A[i] = B[i]
    """)
    assert [each.name for each in lowered.kernels] == ["jacobi_B_kernel", "jacobi_A_kernel"]
    a, b = np.arange(9.0) ** 2, np.zeros(9)
    expected = a.copy()
    for _ in range(3):
        expected[1:-1] = (expected[:-2] + expected[1:-1] + expected[2:]) / 3
    emulate.load(lowered.text, "jacobi")(a, b, 3)
    np.testing.assert_allclose(a, expected)


def test_intermediates_live_on_the_device_and_scalars_come_back() -> None:
    lowered = lower("""
    def normalised(x):
        n = len(x)
        total = 0.0
        scaled = np.zeros(n, x.dtype)
        result = np.empty_like(x)
        for i in range(n):
            total += x[i]
        for i in block.x(n):
            scaled[i] += x[i] * 2
        for i in block.x(n):
            result[i] = scaled[i] / total
        last = x[-1]
        return result, total, last
    """)
    assert "scaled = cuda.to_device(np.zeros(n, x.dtype))" in lowered.text
    assert "result = cuda.device_array(x.shape, x.dtype)" in lowered.text
    x = np.arange(1.0, 6.0)
    result, total, last = emulate.load(lowered.text, "normalised")(x)
    np.testing.assert_allclose(result.copy_to_host(), x * 2 / 15)
    assert (total, last) == (15.0, 5.0)


def test_filled_allocations() -> None:
    text = lower("""
    def f(x):
        a = np.ones((3, 4))
        b = np.full_like(x, 7)
        c = np.empty(3, np.float32)
        d = np.full(3, -1)
        for i in block.x(3):
            x[i] = a[i, 0] + b[i] + c[i] + d[i]
    """).text
    assert "a = cuda.to_device(np.ones((3, 4), np.float64))" in text
    assert "b = cuda.to_device(np.full(x.shape, 7, x.dtype))" in text
    assert "c = cuda.device_array(3, np.float32)" in text
    assert "d = cuda.to_device(np.full(3, -1, np.int64))" in text


def test_names_of_the_program_do_not_clash_with_those_of_the_text() -> None:
    lowered = lower("""
    def f(cuda, uint32, grid):
        n = len(cuda)
        for i in block.x((n + 3) // 4):
            for j in thread.x(4):
                if i * 4 + j < n:
                    cuda[i * 4 + j] = uint32 + grid
    """)
    out = np.zeros(6)
    emulate.load(lowered.text, "f")(out, 1.0, 2.0)
    assert out.tolist() == [3.0] * 6


def test_an_early_return_stays_on_the_host() -> None:
    lowered = lower("""
    def f(x):
        n = len(x)
        if n < 3:
            x[0] = -1.0
            return x
        for i in block.x(n):
            x[i] += 1
        return x
    """)
    function = emulate.load(lowered.text, "f")
    assert function(np.zeros(2)).tolist() == [-1.0, 0.0]
    assert function(np.zeros(3)).tolist() == [1.0, 1.0, 1.0]


def test_a_serial_loop_that_returns_is_refused() -> None:
    with pytest.raises(LoweringError, match="cannot return"):
        lower("""
        def f(x):
            for i in range(4):
                if x[i] > 0:
                    return i
        """)


@pytest.mark.parametrize(
    "statement", ["x[i, 1:] -= 2 * x[0, 1:]", "y[i] = np.sum(x[i, :])", "y[i] = x[i, 1:] @ y"]
)
def test_arithmetic_on_whole_arrays_is_refused(statement: str) -> None:
    with pytest.raises(LoweringError, match="arithmetic on whole arrays"):
        lower(f"""
        def f(x, y):
            for i in block.x(4):
                {statement}
        """)


@pytest.mark.parametrize(
    "statement", ["x[::-1] = x", "x[::-2] = x[::2]", "x[::-1] = y if n else x"]
)
def test_copies_of_whole_arrays_are_refused(statement: str) -> None:
    with pytest.raises(LoweringError, match="copying whole arrays"):
        lower(f"""
        def f(x, y, n):
            {statement}
            for i in block.x(4):
                x[i] += y
        """)


def test_allocations_in_host_loops_and_views_stay_on_the_host() -> None:
    lowered = lower("""
    def f(x, steps):
        n = len(x)
        inner = x[1:]
        for t in range(steps):
            doubled = np.zeros(n, np.float64)
            for i in range(n):
                doubled[i] = x[i] * 2
            for i in block.x(n):
                x[i] = doubled[i]
        for i in block.x(n - 1):
            inner[i] = inner[i] + 1
    """)
    assert "    inner = x[1:]\n    for t in range(steps):\n        doubled = " in lowered.text
    x = np.arange(4.0)
    emulate.load(lowered.text, "f")(x, 2)
    assert x.tolist() == [0.0, 5.0, 9.0, 13.0]


def test_a_loop_of_the_host_may_be_left() -> None:
    lowered = lower("""
    def f(x, steps):
        for t in range(steps):
            for i in block.x(4):
                x[i] *= 0.5
            if x[0] < 1.0:
                break
    """)
    x = np.array([8.0, 4.0, 2.0, 1.0])
    emulate.load(lowered.text, "f")(x, 100)
    assert x[0] == 0.5


HALF = {
    "helpers": {"half": len},
    "helper_programs": {"half": program("def half(v): return v // 2")},
}


def test_what_a_helper_computes_comes_back_from_the_gpu() -> None:
    lowered = lower(
        """
        def f(x):
            n = half(len(x))
            for i in block.x(n):
                x[i] = 0
        """,
        **HALF,
    )
    x = np.ones(5)
    emulate.load(lowered.text, "f")(x)
    assert x.tolist() == [0, 0, 1, 1, 1]


def test_helpers_are_not_called_on_the_host() -> None:
    with pytest.raises(LoweringError, match="called on the host"):
        lower(
            """
        def f(x):
            n = len(x)
            if half(n) > 1:
                return half(n)
            for i in block.x(n):
                x[i] = 0
        """,
            **HALF,
        )


def test_a_grid_that_is_always_empty_is_not_launched() -> None:
    """The loop over whole tiles of a range that is shorter than one tile."""
    lowered = lower("""
    def first(x):
        for i_0 in block.x(0):
            for i_1 in range(3):
                x[i_0 * 3 + i_1] = 1.0
        for i in range(2):
            x[i] = 2.0
    """)
    x = np.zeros(4)
    emulate.load(lowered.text, "first")(x)
    np.testing.assert_array_equal(x, [2, 2, 0, 0])


EXCHANGED = """
def steps(u, v, k, count):
    for t in range(count):
        for i in range(1, len(u) - 1):
            v[i] = (u[i - 1] + u[i + 1]) / 2
        {exchange}
    return u[2]
"""


def test_names_of_arrays_are_exchanged_on_the_host() -> None:
    lowered = lower(EXCHANGED.format(exchange="u, v = v, u"))
    assert "def steps(" in lowered.text.partition("u, v = v, u")[0]
    for count in range(4):
        u, v = np.arange(6.0) ** 3, np.zeros(6)
        wanted, other = u.copy(), v.copy()
        for _ in range(count):
            other[1:-1] = (wanted[:-2] + wanted[2:]) / 2
            wanted, other = other, wanted
        assert emulate.load(lowered.text, "steps")(u, v, u, count) == wanted[2]


def test_names_of_arrays_that_data_exchange_are_refused() -> None:
    with pytest.raises(LoweringError, match="may stand for another array after a kernel"):
        lower(EXCHANGED.format(exchange="if k[t] > 0:\n            u, v = v, u"))


def test_tuples_do_not_come_back() -> None:
    text = """
    def where(x):
        best, place = x[0], (0, 1)
        for i in range(len(x)):
            if x[i] > best:
                best = x[i]
                place = (i, i + 1)
        return best, place
    """
    with pytest.raises(
        LoweringError, match="place, which the GPU computes and hands back, holds a tuple"
    ):
        lower(text, {"x": "float64"})
