"""Functions from text: read, not run."""

from __future__ import annotations

import math
import textwrap

import numpy as np
import pytest

from astile.errors import SourceError
from astile.frontend.build import build_from_source
from astile.frontend.text import function_of


def test_the_text_is_not_run(tmp_path):
    mark = tmp_path / "mark"
    text = f"""
        import os
        from pathlib import Path

        Path({str(mark)!r}).write_text("run")
        SIZE = Path({str(mark)!r}).write_text("run")

        def side(x=Path({str(mark)!r}).write_text("run")):
            return x

        @side
        def f(A, n: print("run") = 2):
            for i in range(n):
                A[i] = 1
    """
    program = build_from_source(text, "f")
    assert program.name == "f"
    assert not mark.exists()


def test_constants_are_evaluated():
    program = build_from_source("""
        import math
        import numpy as np
        from math import exp as e, tau

        SIGMA: float = 1.5
        A0 = B0 = -2
        K = math.exp(-1.0 / (2 * SIGMA ** 2))
        L = np.float32(K)
        M = np.exp(np.pi) + e(0) + tau
        R = max(abs(A0), int(2.5)) << 2 | ~B0
        NAME = "same"

        def f(A, k=K, *, n=R):
            A[0] = K + L + M + R + A0
            return NAME
    """)
    k = math.exp(-1.0 / (2 * 1.5**2))
    assert program.constants == {
        "K": k,
        "L": np.float32(k),
        "M": np.exp(np.pi) + 1 + math.tau,
        "R": 9,
        "A0": -2,
        "NAME": "same",
    }
    assert type(program.constants["L"]) is np.float32


def test_the_function_can_be_called():
    function = function_of(
        """
        import numpy as np
        FACTOR = 3

        def helper(x):
            return x * FACTOR

        def f(A, n=2):
            for i in range(n):
                A[i] = helper(A[i])
    """,
        "f",
    )
    values = np.array([1, 2, 5])
    function(values)
    assert values.tolist() == [3, 6, 5]


def test_positions_are_those_of_the_text():
    program = build_from_source("\n\ndef f(A):\n    for i in range(3):\n        A[i] = 0\n")
    loop = program.function.body[0]
    assert (loop.lineno, loop.col_offset) == (4, 4)
    span = program.source.span(loop)
    assert str(span) == "<source>:4:5"


def test_words_may_be_imported():
    program = build_from_source("""
        from astile.loops import *
        from numpy import float32

        def f(A):
            for i in block.x(3):
                t = shared.empty((4,), float32)
                A[i] = t[0]
    """)
    assert program.imports == {"float32": "numpy.float32"}


@pytest.mark.parametrize(
    "value",
    [
        "open('x')",
        "[1, 2]",
        "(1, 2)",
        "np.zeros(3)",
        "np.array((1, 2))",
        "unknown + 1",
        "1 / 0",
        "math.sqrt(-1)",
        "'a' * 3",
        "math.nothing",
        "(1).real",
        "lambda: 3",
        "np.random.rand()",
        "__import__('os').getpid()",
    ],
)
def test_values_that_are_not_read(value):
    text = f"import math\nimport numpy as np\nK = {value}\n\ndef f(A):\n    A[0] = K\n"
    with pytest.raises(SourceError) as caught:
        build_from_source(text)
    assert caught.value.code == "source.unknown-value"


@pytest.mark.parametrize(
    "line",
    ["import os", "from os import getpid", "from . import x", "import no_such_module_at_all"],
)
def test_imports_that_are_not_made(line):
    name = line.split()[-1]
    with pytest.raises(SourceError) as caught:
        build_from_source(f"{line}\n\ndef f(A):\n    A[0] = {name}\n")
    assert caught.value.code == "source.unknown-value"


def test_names_bound_by_unpacking_are_not_read():
    with pytest.raises(SourceError, match="value of b is not known"):
        build_from_source("a, b = 1, 2\n\ndef f(A):\n    A[0] = b\n")


def test_the_last_definition_counts():
    program = build_from_source("def f(A):\n    A[0] = 1\n\ndef f(A):\n    A[0] = 2\n", "f")
    assert program.function.body[0].value.value == 2


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("x = 1\n", None, "defines no function"),
        ("def f(A): pass\ndef g(A): pass\n", None, "defines 2 functions: f, g"),
        ("def conv(A): pass\n", "cnov", "did you mean 'conv'?"),
        ("def f(A:\n", None, "is no Python"),
        ("def f(A):\n  return\n 1\n", None, "is no Python"),
        ("async def f(A):\n    pass\n", None, "an async function"),
    ],
)
def test_refused_texts(text, name, says):
    with pytest.raises(SourceError) as caught:
        build_from_source(text, name)
    assert says in str(caught.value)


def test_indented_text_is_dedented():
    text = "    def f(A):\n        A[0] = 1\n"
    assert build_from_source(text).name == build_from_source(textwrap.dedent(text)).name == "f"
