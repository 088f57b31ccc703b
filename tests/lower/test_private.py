"""Local arrays: each thread keeps its own cells, or the program is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

from astile.errors import LoweringError
from astile.lower import cuda, python
from astile.lower.kernels import fences
from astile.runtime import emulate
from tests.support.scheduled import program

KERNEL = """
def f(x, out):
    for b in block.x(2):
        acc = local.empty({shape}, np.float64)
        for i in thread.y(4):
            for j in thread.x(8):
                {first}
        for i in thread.y(4):
            for j in thread.x(8):
                {second}
"""


def text_of(shape: str, first: str, second: str) -> str:
    indent = "\n                "
    return KERNEL.format(
        shape=shape, first=first.replace("\n", indent), second=second.replace("\n", indent)
    )


def lowered(text: str) -> str:
    return cuda.lower(program(text), barriers=fences.find).text


@pytest.mark.parametrize(
    ("shape", "index", "kept", "loop"),
    [
        ("(4, 8)", "i, j", "(1,)", ""),
        ("(8, 4)", "j, i", "(1,)", ""),
        ("(4, 8, 3)", "i, j, r", "(3,)", "for r in range(3):"),
        ("(12, 8)", "i * 3 + r, j", "(3,)", "for r in range(3):"),
        ("(12, 8)", "r * 4 + i, j", "(3,)", "for r in range(3):"),
        ("(12, 16)", "r * 4 + i, j * 2 + 1", "(3, 2)", "for r in range(3):"),
    ],
)
def test_cells_per_thread(shape: str, index: str, kept: str, loop: str) -> None:
    indent = "    " if loop else ""
    r = "r" if loop else "0"
    first = f"{loop}\n{indent}acc[{index}] = x[b, i, j] + {r}".lstrip("\n")
    second = f"{loop}\n{indent}out[b, i, j] += acc[{index}] * 2".lstrip("\n")
    text = text_of(shape, first, second)
    made = lowered(text)
    assert f"acc = cuda.local.array({kept}, np.float64)" in made
    x = np.random.rand(2, 4, 8)
    results = []
    namespace: dict[str, object] = {}
    exec(python.lower(program(text)).text, namespace)
    for function in (namespace["f"], emulate.load(made, "f")):
        out = np.zeros((2, 4, 8))
        function(x, out)  # type: ignore[operator]
        results.append(out)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(
    ("shape", "first", "second"),
    [
        ("(4, 8)", "acc[i, j] = x[i, j]", "out[i, j] = acc[3 - i, j]"),  # another thread's cell
        ("(4, 8)", "acc[i, j] = x[i, j]", "out[i, j] = acc[i, 0]"),
        ("(8,)", "acc[j] = x[i, j]", "out[i, j] = acc[j]"),  # shared along y
        ("(32,)", "acc[i * 8 + j] = x[i, j]", "out[i, j] = acc[i * 8 + j]"),  # two in one axis
        ("(12, 8)", "acc[i * 3 + 3, j] = x[i, j]", "out[i, j] = acc[i * 3, j]"),
        ("(8, 8)", "acc[i + j, j] = x[i, j]", "out[i, j] = acc[i + j, j]"),
    ],
)
def test_cells_that_threads_would_share(shape: str, first: str, second: str) -> None:
    with pytest.raises(LoweringError, match="share its cells"):
        lowered(text_of(shape, first, second))


def test_an_array_allocated_inside_the_thread_loops_is_the_thread_s_own() -> None:
    made = lowered("""
    def f(x, out):
        for i in thread.x(4):
            part = local.empty((3,), np.float64)
            for r in range(3):
                part[r] = x[i, 2 - r]
            for r in range(3):
                out[i, r] = part[r]
    """)
    assert re.search(r"part = cuda.local.array\(\(3,\), np.float64\)", made)
    x, out = np.random.rand(4, 3), np.zeros((4, 3))
    emulate.load(made, "f")(x, out)
    np.testing.assert_array_equal(out, x[:, ::-1])


def test_a_local_shape_is_literal() -> None:
    with pytest.raises(LoweringError, match="the shape of part must be literal"):
        lowered("""
        def f(x, n):
            for i in thread.x(4):
                part = local.empty((n,), np.float64)
                part[0] = x[i]
                x[i] = part[0] + n
        """)
