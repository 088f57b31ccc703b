"""Arithmetic is written out in the plain program's types."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.ir import printer
from astile.lower import cpu, python
from astile.lower.types import numeric
from astile.lower.types.kinds import Kinds
from astile.lower.types.promotion import promoted
from tests.support.scheduled import program

TYPES = {
    "x": "float32",
    "y": "float32",
    "d": "float64",
    "a": "uint8",
    "b": "uint8",
    "h": "int16",
    "q": "uint64",
    "out": "float32",
    "alpha": "float",
}


def explicit(statement: str) -> str:
    text = f"""
    def f(x, y, d, a, b, h, q, out, alpha, beta):
        for i in range(4):
            {statement}
    """
    made = numeric.explicit(program(text), TYPES)
    lines = printer.print_statement(made.function).splitlines()
    return "\n".join(line.strip() for line in lines[2:])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("out[i] = x[i] * 0.1", "out[i] = x[i] * float32(0.1)"),
        ("out[i] = 2 * x[i] + i", "out[i] = float32(2) * x[i] + float32(i)"),
        ("out[i] = alpha * x[i]", "out[i] = float32(alpha) * x[i]"),
        ("out[i] = x[i] + a[i]", "out[i] = x[i] + float32(a[i])"),
        ("out[i] += x[i] * 0.5", "out[i] += x[i] * float32(0.5)"),
        ("out[i] += 0.5", "out[i] += float32(0.5)"),
        ("out[i] = x[i] ** 2", "out[i] = x[i] * x[i]"),
        ("out[i] = (x[i] + y[i]) ** 3", "out[i] = float32((x[i] + y[i]) ** 3)"),
        ("out[i] = max(x[i], 0.0)", "out[i] = max(x[i], float32(0.0))"),
        ("out[i] = np.maximum(x[i], 0.1)", "out[i] = np.maximum(x[i], float32(0.1))"),
        ("out[i] = np.sqrt(x[i]) * 2.0", "out[i] = np.sqrt(x[i]) * float32(2.0)"),
        (
            "out[i] = x[i] if x[i] > 0.1 else 0.0",
            "out[i] = x[i] if x[i] > float32(0.1) else float32(0.0)",
        ),
        ("a[i] = (a[i] + b[i]) // 2", "a[i] = uint8(uint8(a[i] + b[i]) // 2)"),
        ("a[i] = -a[i]", "a[i] = uint8(-a[i])"),
        ("d[i] = int(a[i]) - int(b[i])", "d[i] = int64(a[i]) - int64(b[i])"),
        ("d[i] = q[i] + 1", "d[i] = q[i] + uint64(1)"),
        ("d[i] = q[i] - h[i]", "d[i] = float64(q[i]) - float64(h[i])"),
        ("s = 0.0\n            s += x[i]", "s = float32(0.0)\ns += x[i]"),
        ("s = 0\n            s += a[i]", "s = uint8(0)\ns = uint8(s + a[i])"),
        ("s = 0.0\n            s = max(s, x[i])", "s = float32(0.0)\ns = max(s, x[i])"),
        (
            "t = np.float32(0.1)\n            out[i] = t * x[i]",
            "t = np.float32(0.1)\nout[i] = t * x[i]",
        ),
    ],
)
def test_types_that_are_written_out(before: str, after: str) -> None:
    assert explicit(before) == after


@pytest.mark.parametrize(
    "statement",
    [
        "d[i] = d[i] * 0.1",
        "d[i] = x[i] * d[i]",
        "out[i] = 0.1",
        "out[i] = beta * x[i]",  # a scalar of unknown type
        "d[i] = h[i] / 2",
        "a[i] += 1",  # the store wraps around
        "out[d > 0] = 1",
        "s = 0.1\nt = 1\nout[i] = s * t",
        "s = 0.5\ns += d[i]",
        "t = x[i]\nt = d[i]\nout[i] = t * 0.1",  # now float32, now float64
    ],
)
def test_types_that_are_numba_s_own(statement: str) -> None:
    assert explicit(statement.replace("\n", "\n            ")) == statement


def spelled(text: str) -> tuple[str, dict[str, str]]:
    made = numeric.explicit(program(text), {"x": "float64"})
    return printer.print_statement(made.function), dict(made.imports)


def test_numbers_that_strings_spell() -> None:
    text, imports = spelled("""
    def f(x):
        low, high = float("inf"), float(" -Infinity ")
        for i in range(4):
            low = min(low, x[i])
            high = max(high, x[i])
            if x[i] > float("1e30"):
                x[i] = float("nan")
        return low, high
    """)
    assert "float(" not in text
    assert "1e+30" in text
    assert "-inf" in text
    assert {imports["inf"], imports["nan"]} == {"math.inf", "math.nan"}


def test_infinity_has_the_name_that_the_program_knows_it_by() -> None:
    text, imports = spelled("""
    def f(x, inf):
        x[0] = float("inf") * inf
    """)
    assert imports["inf_1"] == "math.inf"
    assert "inf_1 * inf" in text


def test_strings_that_spell_no_number_stay() -> None:
    text, _ = spelled("""
    def f(x):
        x[0] = float("many") + ord("ab")
    """)
    assert '("many") + ord("ab")' in text


def test_elements_of_tuples_need_not_be_integers() -> None:
    text, _ = spelled("""
    def f(x):
        for weight, step in zip((0.25, 0.5, 0.25), (-1, 0, 1)):
            for i in range(1, 3):
                x[i] += weight * x[i + step]
        for k, weight in enumerate((0.5, 0.75)):
            x[k] *= weight
    """)
    assert "(0.25, 0.5, 0.25)" in text


def test_casts_do_not_clash_with_names_of_the_program() -> None:
    made = numeric.explicit(
        program("def f(x, float32):\n    x[0] = x[1] * 0.5 + float32"), {"x": "float32"}
    )
    assert "float32_1(0.5)" in printer.print_statement(made.function)
    assert made.imports["float32_1"] == "numpy.float32"


KINDS = (
    "bool",
    "int",
    "float",
    "int8",
    "uint8",
    "int16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float32",
    "float64",
)


@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("right", KINDS)
def test_promotion_is_that_of_numpy(left: str, right: str) -> None:
    def value(kind: str) -> object:
        return {"bool": True, "int": 1, "float": 1.0}.get(kind) or np.dtype(kind).type(1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = value(left) + value(right)  # type: ignore[operator]
    assert promoted(left, right) == type(result).__name__


EXPRESSIONS = st.recursive(
    st.sampled_from(("x[i]", "a[i]", "b[i]", "h[i]", "d[i]", "i", "2", "0.1", "0.5", "s", "w")),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
        st.builds("max({}, {})".format, inner, inner),
        st.builds("int({})".format, inner),
    ),
    max_leaves=5,
)


@given(first=EXPRESSIONS, second=EXPRESSIONS)
@settings(max_examples=12, deadline=None, derandomize=True)
def test_numba_computes_what_plain_python_computes(first: str, second: str) -> None:
    made = program(f"""
    def f(x, a, b, h, d, out, more):
        s = 0.0
        w = 3
        for i in range(4):
            s += x[i]
            w = w + i
            out[i] = {first}
            more[i] = {second}
    """)

    def arguments() -> list[np.ndarray]:
        generator = np.random.default_rng(7)
        small = [generator.integers(0, 200, 4).astype(t) for t in ("uint8", "uint8", "int16")]
        return [
            generator.random(4, dtype=np.float32),
            *small,
            generator.random(4),
            np.zeros(4),
            np.zeros(4, np.float32),
        ]

    types = {
        "x": "float32",
        "a": "uint8",
        "b": "uint8",
        "h": "int16",
        "d": "float64",
        "out": "float64",
        "more": "float32",
    }
    results = []
    for text in (python.lower(made).text, cpu.lower(made, types=types).text):
        namespace: dict[str, object] = {}
        exec(compile(text, "<f>", "exec"), namespace)
        given_arrays = arguments()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            namespace["f"](*given_arrays)  # type: ignore[operator]
        results.append(given_arrays)
    for plain, compiled in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-6)


def test_kinds_of_names() -> None:
    kinds = Kinds(
        program("""
        def f(x, n):
            m = n
            s = 0.0
            t = 1
            for i in range(3):
                s += x[i]
                t = t + i
            local_copy = np.zeros(3, np.float32)
            u = local_copy[0]
        """),
        {"x": "float32"},
    )
    assert kinds.names["s"] == "float32"
    assert kinds.names["t"] == "int"
    assert kinds.names["u"] == "float32"
    assert kinds.names["m"] is None
    assert kinds.arrays == {"x": "float32", "local_copy": "float32"}
