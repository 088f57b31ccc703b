"""Random kernels of phases, uniform statements and loops: emulated, they equal plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from astile.lower import cpu, cuda, python
from astile.lower.kernels import barriers, fences
from astile.lower.kernels.plan import Finder
from astile.runtime import emulate
from tests.support.scheduled import program

ARRAYS = ("a", "b")


@st.composite
def statements(draw: st.DrawFn, depth: int, indent: str) -> str:
    """Statements in a block, where all its threads come by."""
    lines = []
    for _ in range(draw(st.integers(1, 3 if depth else 2))):
        kind = draw(st.sampled_from(("phase", "phase", "one", "scalar", "loop", "if")))
        if kind in ("loop", "if") and depth == 0:
            kind = "phase"
        one, other = draw(st.permutations(ARRAYS))
        shift, far = draw(st.integers(0, 2)), draw(st.integers(0, 4))
        if kind == "phase":
            extent = draw(st.sampled_from((3, 4, 6)))
            read = draw(st.sampled_from((f"{other}[t + {far}]", f"{one}[t + {shift}]", "v")))
            lines += [
                f"{indent}for t in thread.x({extent}):",
                f"{indent}    {one}[t + {shift}] = {read} + g[i, t] + t",
            ]
        elif kind == "one":
            lines.append(f"{indent}{one}[{far}] = {other}[{shift}] + {one}[{far}]")
        elif kind == "scalar":
            lines.append(f"{indent}v = {one}[{far}] - v")
        elif kind == "loop":
            body = draw(statements(depth - 1, indent + "    "))
            lines.append(f"{indent}for k{depth} in range({draw(st.integers(0, 3))}):\n{body}")
        else:
            body = draw(statements(depth - 1, indent + "    "))
            lines.append(f"{indent}if i >= {draw(st.integers(0, 2))}:\n{body}")
    return "\n".join(lines)


@st.composite
def kernels(draw: st.DrawFn) -> str:
    """A kernel of two blocks over two shared arrays of ten cells."""
    body = draw(statements(2, " " * 8))
    return f"""
def f(g, out):
    for i in block.x(2):
        a = shared.empty((10,), np.float64)
        b = shared.empty((10,), np.float64)
        v = 1.0
        for t in thread.x(10):
            a[t] = g[i, t]
            b[t] = 2.0 * g[i, t]
{body}
        for t in thread.x(10):
            out[i, t] = a[t] + 3.0 * b[9 - t] + v
"""


def run(text: str, entry: str) -> np.ndarray:
    arguments = (np.arange(20.0).reshape(2, 10), np.zeros((2, 10)))
    namespace: dict[str, object] = {}
    exec(compile(text, "<f>", "exec"), namespace)
    namespace[entry](*arguments)  # type: ignore[operator]
    return arguments[1]


@pytest.mark.parametrize("finder", [fences.find, barriers.find], ids=["fences", "barriers"])
@given(text=kernels(), order=st.sampled_from(["forward", "reverse", 1, 2]))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
def test_emulated_kernels_equal_plain_python(
    finder: Finder, text: str, order: emulate.Order
) -> None:
    made = program(text)
    expected = run(python.lower(made).text, "f")
    arguments = (np.arange(20.0).reshape(2, 10), np.zeros((2, 10)))
    lowered = cuda.lower(made, barriers=finder)
    emulate.load(lowered.text, "f", order=order)(*arguments)
    np.testing.assert_array_equal(arguments[1], expected)


@given(text=kernels())
@settings(max_examples=5, deadline=None, derandomize=True)
def test_cpu_texts_equal_plain_python(text: str) -> None:
    made = program(text)
    expected = run(python.lower(made).text, "f")
    np.testing.assert_array_equal(run(cpu.lower(made).text, "f"), expected)
