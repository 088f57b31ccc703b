"""What a call decides by None and strings: branches are left out, and values are kept."""

from __future__ import annotations

import ast
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile import tile
from astile.frontend.build import as_written, build
from astile.frontend.decided import Fact, Other, compared, decided, facts_of
from astile.frontend.text import function_of
from astile.ir.module import module_text
from astile.ir.printer import print_statement
from tests.support.assert_rewrite import load

GIVEN = Other.GIVEN

BECOMES: dict[str, tuple[str, Fact, str]] = {
    "an array that is made": (
        "if p is None:\n    p = np.ones(n)\nfor i in range(n):\n    x[i] *= p[i]",
        None,
        "p_1 = np.ones(n)\nfor i in range(n):\n    x[i] *= p_1[i]",
    ),
    "an array that is given": (
        "if p is None:\n    p = np.ones(n)\nfor i in range(n):\n    x[i] *= p[i]",
        GIVEN,
        "for i in range(n):\n    x[i] *= p[i]",
    ),
    "inside of a loop": (
        "for i in range(n):\n    if p is not None:\n        x[i] += p[i]\n    x[i] *= 2",
        None,
        "for i in range(n):\n    x[i] *= 2",
    ),
    "all of a loop": (
        "for i in range(n):\n    if p is not None:\n        x[i] += p[i]",
        None,
        "for i in range(n):\n    pass",
    ),
    "one of several strings": (
        "if p == 'low':\n    y = 1\nelif p in ('high', 'top'):\n    y = 2\n"
        "else:\n    raise ValueError(p)\nx[0] = y",
        "top",
        "y = 2\nx[0] = y",
    ),
    "a string that nothing names": (
        "if p == 'low':\n    y = 1\nelse:\n    raise ValueError('unknown')\nx[0] = y",
        "other",
        "raise ValueError('unknown')",
    ),
    "beside what is not known": (
        "if p is not None and n > 3:\n    x[0] = 1\nif p is None or n > 3:\n    x[1] = 1",
        GIVEN,
        "if n > 3:\n    x[0] = 1\nif n > 3:\n    x[1] = 1",
    ),
    "an expression": ("x[0] = 1.0 if p is None else p", None, "x[0] = 1.0"),
    "the truth of a string": ("if not p:\n    x[0] = 1\nx[1] = 2", "", "x[0] = 1\nx[1] = 2"),
    "a result": (
        "if p is None:\n    return x\nx[0] = p\nreturn x",
        None,
        "return x",
    ),
    "a name that takes another value in between": (
        "p = p if p is not None else 3\nif p is None:\n    x[0] = 1\nx[1] = p",
        None,
        "p_1 = 3\nif p_1 is None:\n    x[0] = 1\nx[1] = p_1",
    ),
    "a name that may take another value": (
        "for i in range(n):\n    if p is None:\n        p = x[i]\nx[0] = 1 if p is None else 2",
        None,
        "for i in range(n):\n    if p is None:\n        p = x[i]\nx[0] = 1 if p is None else 2",
    ),
    "a string in place of None": (
        "if p is None:\n    p = 'low'\nif p == 'low':\n    x[0] = 1\nelse:\n    x[0] = 2",
        None,
        "x[0] = 1",
    ),
    "a name for a test": ("q = p is not None\nif q:\n    x[0] = p[0]", None, "q = False"),
    "another name": ("q = p\nif q is None:\n    x[0] = 1", None, "x[0] = 1"),
    "another name of what is given": (
        "q = p\nif q is None:\n    q = x\nx[0] = q[0]",
        GIVEN,
        "q = p\nx[0] = q[0]",
    ),
    "a name for a test that takes another value": (
        "q = p is None\nfor i in range(n):\n    if q:\n        x[i] = 1\n    q = False",
        None,
        "q = True\nfor i in range(n):\n    if q:\n        x[i] = 1\n    q = False",
    ),
    "what is compared with other things": ("x[0] = 1 if p == 3 else 2", None, None or ""),
}


def program(body: str) -> Any:
    lines = "".join(f"    {each}\n" for each in body.splitlines())
    text = f"import numpy as np\n\n\ndef f(x, n, p=None):\n{lines}"
    return as_written(function_of(text, None))


def statements(found: Any) -> str:
    return "\n".join(print_statement(each) for each in found.function.body)


@pytest.mark.parametrize("name", BECOMES)
def test_becomes(name: str) -> None:
    before, fact, after = BECOMES[name]
    found = statements(decided(program(before), [("p", fact)]))
    assert found == statements(program(after or before))


def test_what_a_call_tells() -> None:
    text = "def f(a, b, c, d):\n    return a is None, b == 'x', c in ('x', None), d == 3\n"
    names = compared(as_written(function_of(text, None)).function)
    assert names == {"a": True, "b": False, "c": True}
    assert facts_of(names, {"a": 1, "b": 1, "c": "x"}) == (("a", GIVEN), ("c", "x"))
    assert facts_of(names, {"a": None, "b": "y", "c": None}) == (
        ("a", None),
        ("b", "y"),
        ("c", None),
    )


def test_parameters_of_functions_inside_are_others() -> None:
    text = "def f(a, b):\n    g = lambda a: a is None\n    return g(b)\n"
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    assert compared(function) == {}


# --- values are kept ----------------------------------------------------------------------------

_TESTS = (
    "p is None", "p is not None", "p == 'a'", "p != 'b'", "p in ('a', 'b')", "y > 1",
    "p not in ('a', 'c')", "None is p", "not p is None", "p is None and y > 2", "not (p == 'b')",
    "y > 2 or p == 'a'", "p == 'a' or p is None",
)  # fmt: skip
_LINES = (
    "y += 1", "y = y * 2", "p = None", "p = 'a'", "p = 'b'", "y = 5 if p is None else y",
    "y += p == 'b'", "p = 'b' if p is None else p", "z = p\nif z is None:\n    y += 7",
    "z = p is None\nif z:\n    y += 9", "z = 'a'\np = z", "z = p\ny += z == 'b'",
)  # fmt: skip


def _block(chance: random.Random, depth: int) -> list[str]:
    found: list[str] = []
    for _ in range(chance.randint(1, 4)):
        kind = chance.random()
        if depth and kind < 0.4:
            found.append(f"if {chance.choice(_TESTS)}:")
            found += [f"    {each}" for each in _block(chance, depth - 1)]
            if chance.random() < 0.5:
                found.append("else:")
                found += [f"    {each}" for each in _block(chance, depth - 1)]
        elif depth and kind < 0.5:
            found.append(f"for i{depth} in range(2):")
            found += [f"    {each}" for each in _block(chance, depth - 1)]
        elif kind < 0.55:
            found += [f"if {chance.choice(_TESTS)}:", "    return y"]
        else:
            found += chance.choice(_LINES).splitlines()
    return found


@settings(max_examples=300)
@given(st.integers(0, 2**32))
def test_values_are_those_of_the_function(seed: int) -> None:
    body = _block(random.Random(seed), 3)
    text = "def f(y, p):\n" + "".join(f"    {each}\n" for each in [*body, "return y"])
    original = as_written(function_of(text, None))
    names = compared(original.function)
    plain = load(original)
    for value in (None, "a", "b", "c", 3):
        short = load(decided(original, facts_of(names, {"p": value})))
        for y in (0, 2):
            assert short(y, value) == plain(y, value), (value, y)


# --- kernels ------------------------------------------------------------------------------------


def filtered(x, out, taps=None, mode="zero", scale=None):
    n = x.shape[0]
    if taps is None:
        taps = np.full(3, 1 / 3)
    half = taps.shape[0] // 2
    for i in range(n):
        acc = 0.0
        for k in range(taps.shape[0]):
            j = i + k - half
            if mode == "wrap":
                acc += taps[k] * x[(j + n) % n]
            elif mode == "edge":
                acc += taps[k] * x[min(max(j, 0), n - 1)]
            elif j >= 0 and j < n:
                acc += taps[k] * x[j]
        if scale is not None:
            acc *= scale[i]
        out[i] = acc


def defaulted(x, out, scale=None, mode=None):
    mode = "sum" if mode is None else mode
    is_scaled = scale is not None
    for i in range(x.shape[0]):
        if is_scaled:
            out[i] = x[i] * scale[i]
        if mode == "sum":
            out[i] += x[i]


def scaled(x, out, scale=None):
    for i in range(x.shape[0]):
        out[i] = x[i] if scale is None else x[i] * scale[i]


@pytest.mark.parametrize("target", ["python", "emulate", "cpu"])
def test_optional_arrays_and_modes(target: Any) -> None:
    kernel = tile(target=target)(filtered)
    x, taps, scale = np.arange(7.0), np.array([1.0, 2.0, 4.0]), np.arange(7.0) + 1
    for _ in range(2):  # and calls like one before
        for options in (
            {}, {"mode": "wrap"}, {"mode": "edge"}, {"taps": taps}, {"scale": scale},
            {"taps": taps, "mode": "wrap", "scale": scale}, {"mode": "another"},
        ):  # fmt: skip
            expected, found = np.zeros(7), np.zeros(7)
            filtered(x, expected, **options)
            kernel(x, found, **options)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("target", ["python", "emulate", "cpu"])
def test_strings_in_place_of_none(target: Any) -> None:
    kernel, x = tile(target=target)(defaulted), np.arange(7.0) + 1
    for options in ((), (None, "sum"), (x,), (x, "product"), (None, "product"), (x, None)):
        expected, found = np.zeros(7), np.zeros(7)
        defaulted(x, expected, *options)
        kernel(x, found, *options)
        np.testing.assert_array_equal(found, expected)


def test_an_array_that_is_given_is_only_read() -> None:
    written = build(filtered, facts=[("taps", GIVEN), ("mode", "edge"), ("scale", None)])
    text = module_text(written)
    assert "taps =" not in text
    assert "mode ==" not in text
    assert "scale[" not in text


def test_a_schedule_holds_for_all_of_them() -> None:
    kernel = tile(target="python", schedule=lambda s: s.split("i", [None, 4]))(scaled)
    x = np.arange(7.0)
    for scale in (None, x):
        found, expected = np.zeros(7), np.zeros(7)
        kernel(x, found, scale)
        scaled(x, expected, scale)
        np.testing.assert_array_equal(found, expected)
