"""Whole modules: only what is used, each meaning under one name, running by themselves."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from astile.errors import InternalError
from astile.frontend.build import as_written as build
from astile.frontend.build import build_from_source
from astile.frontend.text import function_of
from astile.ir import nodes
from astile.ir.module import constant_of, import_statements, module_text, parts
from astile.ir.printer import print_expression, print_module

Golden = Callable[[str, str], None]

FACTOR = 2.0
UNUSED = 5


def run(text: str, name: str, *arguments: Any) -> Any:
    space: dict[str, Any] = {"__name__": "printed"}
    exec(compile(text, "<printed>", "exec"), space)
    return space[name](*arguments)


def make_helper(FACTOR):
    def scaled(x):
        return x * FACTOR

    return scaled


times_three, times_five = make_helper(3), make_helper(5)


def square(x):
    return x * x


def chain(x):
    return times_three(square(x)) + FACTOR


def test_module(golden: Golden) -> None:
    text = """
        import math
        import numpy as np
        from math import exp as e
        from numpy import float32
        from astile.loops import block, thread, shared

        SIGMA = 1.5
        K = np.float32(0.1)
        UNUSED = 3

        def weight(x):
            return e(-x / SIGMA)

        def clipped(x):
            return min(max(weight(x), 0.0), 1.0)

        def kernel(A, out):
            n = len(A)
            for i_0 in block.x((n + 15) // 16):
                tile = shared.empty((16,), float32)
                for i_1 in thread.x(16):
                    if i_0 * 16 + i_1 < n:
                        tile[i_1] = A[i_0 * 16 + i_1] * K
                for i_1 in thread.x(16):
                    if i_0 * 16 + i_1 < n:
                        out[i_0 * 16 + i_1] = clipped(tile[i_1]) + math.pi
    """
    printed = module_text(build(function_of(text, "kernel")))
    golden("module/kernel.py", printed)
    values, out = np.arange(20, dtype=np.float32), np.zeros(20)
    run(printed, "kernel", values, out)
    scaled = [math.exp(-float(x) / 1.5) for x in values * np.float32(0.1)]
    np.testing.assert_allclose(out, np.clip(scaled, 0, 1) + math.pi, rtol=1e-6)


def test_nothing_but_the_function_where_nothing_is_used():
    text = "import numpy as np\nK = 3\n\ndef f(A):\n    A[0] = 1\n"
    assert module_text(build_from_source(text)) == "def f(A):\n    A[0] = 1\n"


def test_what_a_step_no_longer_uses_is_gone():
    program = build_from_source("K = 3\n\ndef f(A):\n    A[0] = K\n").cloned()
    program.function.body[0].value = nodes.const(4)
    assert module_text(program) == "def f(A):\n    A[0] = 4\n"


def test_helpers_with_clashing_constants():
    def f(A):
        for i in range(3):
            A[i] = times_three(A[i]) + times_five(A[i]) + FACTOR

    text = module_text(build(f))
    values = np.array([1.0, 2.0, 3.0])
    expected = values * 8 + 2
    run(text, "f", values)
    assert values.tolist() == expected.tolist()
    assert [text.count(f"\n{name} = ") for name in ("FACTOR_1", "FACTOR_2")] == [1, 1]
    assert text.startswith("FACTOR = 2.0\n")


def test_helpers_of_helpers_come_first_and_once():
    def f(A):
        A[0] = chain(A[1]) + square(A[2]) + times_three(A[0])

    text = module_text(build(f))
    names = [each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    assert names.index("times_three") < names.index("chain") < names.index("f")
    assert sorted(names) == ["chain", "f", "square", "times_three"]
    values = np.array([1.0, 2.0, 3.0])
    expected = chain(2.0) + 9.0 + 3.0
    run(text, "f", values)
    assert values[0] == expected


def test_a_helper_under_two_names_is_printed_once_where_it_can():
    other = square

    def caller(x):
        return other(x) + 1

    def f(A):
        A[0] = square(A[1]) + caller(A[1])

    text = module_text(build(f))
    assert text.count("return x * x") == 1
    values = np.array([0.0, 3.0])
    run(text, "f", values)
    assert values[0] == 19.0


def test_a_local_name_of_the_kernel_does_not_hide_a_helper():
    def helper(x):
        return square(x)

    def f(A):
        square = 3
        A[0] = helper(A[1]) + square

    values = np.array([0.0, 3.0])
    run(module_text(build(f)), "f", values)
    assert values[0] == 12.0


def test_a_helper_that_was_not_read():
    program = replace(build_from_source("def f(A):\n    A[0] = 1\n"), helpers={"g": square})
    clone = program.cloned()
    clone.function.body[0].value = nodes.call("g", [nodes.const(1)])
    with pytest.raises(InternalError, match="'g' was not read"):
        module_text(clone)


def test_parts():
    def f(A):
        A[0] = chain(A[1]) * FACTOR

    above = parts(build(f))
    assert dict(above.imports) == {}
    assert dict(above.constants) == {"FACTOR": 2.0, "FACTOR_1": 3}
    assert [each.name for each in above.helpers] == ["times_three", "square", "chain"]


def test_numpy_is_imported_for_a_typed_constant():
    text = module_text(
        build_from_source(
            "from numpy import float32\nK = float32(0.1)\n\ndef f(A):\n    A[0] = K\n"
        )
    )
    assert text.startswith("import numpy as np\n\nK = np.float32(0.1)\n")


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (3, "3"),
        (-0.5, "-0.5"),
        (np.float32(0.1), "np.float32(0.1)"),
        (np.float64(0.1), "np.float64(0.1)"),
        (np.int8(-3), "np.int8(-3)"),
        (np.float16(0.3), "np.float16(0.3)"),
        (np.complex64(1 + 2j), "np.complex64(complex(1.0, 2.0))"),
        (np.float32("inf"), "np.float32(float('inf'))"),
    ],
)
def test_constants(value, printed):
    made = constant_of(value, "np")
    assert print_expression(made) == printed
    again = eval(printed, {"np": np})
    assert type(again) is type(value)
    assert again == value


def test_imports_are_in_the_order_of_a_formatter():
    made = import_statements(
        {
            "np": "numpy",
            "block": "astile.loops.block",
            "shared": "astile.loops.shared",
            "math": "math",
            "root": "math.sqrt",
            "sin": "math.sin",
            "f32": "numpy.float32",
            "numba": "numba",
        }
    )
    assert print_module(made).splitlines() == [
        "import math",
        "from math import sin, sqrt as root",
        "",
        "import numba",
        "import numpy as np",
        "from numpy import float32 as f32",
        "",
        "from astile.loops import block, shared",
    ]
