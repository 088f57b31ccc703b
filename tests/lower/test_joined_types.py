"""Texts for any arguments, of programs with a type that is joined of those of several."""

from __future__ import annotations

import numpy as np
import pytest

from astile.errors import LoweringError
from astile.lower import cpu, cuda
from astile.lower.types.joined_types import settled
from tests.support.scheduled import program

SUMS = """
def f(x, w, y):
    s = np.empty(4, np.result_type(0.0, x, w))
    t = np.empty(4, np.result_type(0.0, x, w))
    for i in range(4):
        s[i] = 0.0
        t[i] = 1.0
    for i in range(4):
        s[i] += x[i] * w[i]
        y[i] = s[i] * t[i]
"""
IN_A_BLOCK = """
def f(x, y):
    for b in block.x(len(y)):
        s = shared.empty(4, np.result_type(0.0, x))
        for i in thread.x(4):
            s[i] = 0.0
        for i in thread.x(4):
            s[i] += x[b, i]
        for i in thread.x(4):
            y[b, i] = s[i]
"""


def test_numba_is_handed_the_type() -> None:
    text = cpu.lower(program(SUMS, imports={"np": "numpy"})).text
    assert "s = np.empty(4, s_dtype)" in text
    assert "t = np.empty(4, s_dtype)" in text
    assert "return f_compiled(x, w, y, np.result_type(0.0, x, w))" in text
    namespace: dict[str, object] = {}
    exec(compile(text, "<f>", "exec"), namespace)
    x, w, y = np.arange(4), np.full(4, 0.1, np.float32), np.zeros(4)
    namespace["f"](x, w, y)  # type: ignore[operator]
    np.testing.assert_array_equal(y, (x * w).astype(np.result_type(0.0, x, w)))


def test_known_types_are_spelled_out() -> None:
    types = {"x": "float32", "w": "float32", "y": "float32"}
    text = cpu.lower(program(SUMS, imports={"np": "numpy"}), types=types).text
    assert "s = np.empty(4, np.float32)" in text
    assert "f_compiled" not in text


def test_the_host_of_a_kernel_compares_the_types() -> None:
    before = program(IN_A_BLOCK, imports={"np": "numpy"})
    text = cuda.lower(before).text
    assert "s = cuda.shared.array((4,), x.dtype)" in text
    assert "    if np.result_type(0.0, x) != x.dtype:\n        raise TypeError(" in text
    assert "TypeError" not in cuda.lower(before, types={"x": "float32", "y": "float32"}).text


def test_a_program_without_such_types_stays_as_it_is() -> None:
    before = program(IN_A_BLOCK.replace("np.result_type(0.0, x)", "x.dtype"))
    assert settled(before, {}) is before


def test_types_of_arrays_of_its_own() -> None:
    made = "    a = np.empty_like(x)\n    s ="
    text = SUMS.replace("0.0, x, w", "0.0, a").replace("    s =", made)
    with pytest.raises(LoweringError, match=r"the type of s, np.result_type\(0.0, a\)"):
        cpu.lower(program(text, imports={"np": "numpy"}))
