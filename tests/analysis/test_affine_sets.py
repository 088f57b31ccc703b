from __future__ import annotations

import ast
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.analysis import isl
from astile.analysis.forms.affine_sets import (
    Quasi,
    Scope,
    at_least_zero,
    atom,
    const,
    formula,
    quasi,
    substituted,
)

SCOPE = Scope({"i": atom("v0_i"), "n": atom("n_n")}, {"A": (atom("s0_A"), atom("s1_A"))})


def e(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def value_of(form: Quasi, i: int, n: int) -> int:
    """The value of a form for i, n and an A of 7 x 9, found by isl."""
    known = f"v0_i = {i} and n_n = {n} and s0_A = 7 and s1_A = 9"
    names = "v0_i, n_n, s0_A, s1_A"
    points = isl.Session().set(f"{{ [x] : exists {names} : {known} and x = {form.text} }}")
    found = isl.points(points)
    assert found is not None
    return found[1][0]


@pytest.mark.parametrize(
    "text",
    [
        "i + 1", "-i // -3", "(16 * i + 5) // 16", "i % -4", "min(i, n, 3) - max(i, 2)",
        "abs(i - n)", "(min(i, n) + 3) // 4 * 2", "A.shape[-1] - 1", "i >> 1", "len(A) * 3",
        "(i // 2) // 3", "-(-i // 4)", "(i * 6 + 3) % 4", "i << 2", "+i", "2 * (n - i) * 3",
        "(i + n) // 1", "i % 1", "int(i)", "(n + 15) // 16 * 16 - n",
        "i - 1 if i > 0 else 0", "i - 1 if i > 1 else 0", "0 if i <= 2 else i - 2",
        "i + 1 if i + 1 < n else n - 1", "n if i >= n else i", "n if n < i else i",
    ],
)  # fmt: skip
def test_expressions_mean_what_they_mean_in_python(text):
    form = quasi(e(text), SCOPE)
    assert form is not None
    names = {"A": np.zeros((7, 9)), "min": min, "max": max}
    for i, n in itertools.product((-5, -1, 0, 3), (-2, 0, 4)):
        expected = eval(text, names, {"i": i, "n": n})
        assert value_of(form, i, n) == expected


@pytest.mark.parametrize(
    "text",
    ["x", "i * n", "i // n", "i // 0", "i % 0", "1.0", "True", "A[0]", "i / 2", "f(i)", "i ** 2",
     "min(i)", "A.shape[2]", "A.size", "i << n", "i if i > 0 else n", "i - 1 if i > 2 else 0",
     "i - 1 if i > 0 else n - 1", "i if A[i] > 0 else 0", "0 if i != 0 else 1", "i if i else 0"],
)  # fmt: skip
def test_what_is_no_known_integer(text):
    assert quasi(e(text), SCOPE) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("i // 4 * 4 + i % 4 - i % 4", "(4*floor((1*v0_i)/4))"), ("(4 * i + 8) // 4", "(1*v0_i + 2)"),
     ("(4 * i + 5) % 4", "(1)"), ("i - i", "(0)"), ("min(i, i)", "(1*v0_i)")],
)  # fmt: skip
def test_forms_are_normal(text, expected):
    form = quasi(e(text), SCOPE)
    assert form is not None
    assert form.text == expected


def test_substitution_reaches_into_divisions():
    form = quasi(e("(i + 3) // 4 + i % 2 + max(i, 2)"), SCOPE)
    assert form is not None
    doubled = substituted(form, {"v0_i": atom("v1_k").times(4)})
    assert doubled.text == "(1*max((2), (4*v1_k)) + 1*v1_k)"
    assert substituted(form, {"v0_i": const(5)}).value == 2 + 1 + 5


@settings(max_examples=40, deadline=None)
@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(-6, 6).filter(bool), st.integers(-9, 9))
def test_division_and_remainder_round_down(a, b, divisor, i):
    for text, expected in (
        (f"({a} * i + {b}) // {divisor}", (a * i + b) // divisor),
        (f"({a} * i + {b}) % {divisor}", (a * i + b) % divisor),
    ):
        form = quasi(e(text), SCOPE)
        assert form is not None
        assert value_of(form, i, 0) == expected


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("0 <= i < n and not (i == 3 or i > 5)", True),
        ("i != 2", True),
        ("True or i < 0", True),
        ("False or i < 0", True),
        ("i in A", False),
        ("A[0] > 1", False),
        ("i < 3 < x", False),
        ("i", False),
    ],
)
def test_conditions(text, known):
    found = formula(e(text), SCOPE)
    assert (found is not None) == known
    if found is not None:
        for i, n in itertools.product(range(-2, 7), (0, 4, 9)):
            holds = isl.Session().set(
                f"{{ [] : exists v0_i, n_n : v0_i = {i} and n_n = {n} and {found} }}"
            )
            assert holds.is_empty() != eval(text, {"i": i, "n": n})


# --- without divisions, minima and maxima ---------------------------------------------------------

XY = Scope({name: atom(name) for name in ("x", "y")}, {})


def same_set(first: str, second: str) -> bool:
    session = isl.Session()
    one, other = (session.set(f"{{ [x, y] : {each} }}") for each in (first, second))
    return bool(one.is_equal(other))


def form_of(text: str) -> Quasi:
    found = quasi(ast.parse(text, mode="eval").body, XY)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("(y + 15) // 16 - x - 1", "(-16*x + 1*y + -1) >= 0"),
        ("x - y // 8", "(8*x + -1*y + 7) >= 0"),
        ("min(x, y) - 3", "(1*x + -3) >= 0 and (1*y + -3) >= 0"),
        ("5 - 2 * max(x, y)", "(-2*x + 5) >= 0 and (-2*y + 5) >= 0"),
        ("min(x, (y + 3) // 4) - 1", "(1*y + -1) >= 0 and (1*x + -1) >= 0"),
    ],
)
def test_taken_apart(text, wanted):
    found = at_least_zero(form_of(text))
    assert sorted(found.split(" and ")) == sorted(wanted.split(" and "))
    assert same_set(found, f"{form_of(text).text} >= 0")


@pytest.mark.parametrize(
    "text", ["2 * (x // 3) - y", "max(x, y) - 3", "5 - min(x, y)", "x % 4 - y"]
)
def test_left_as_it_is(text):
    assert at_least_zero(form_of(text)) == f"{form_of(text).text} >= 0"


ATOMS = st.sampled_from(["x", "y", "3", "-2"])
FORMS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda e: f"({e[0]} + {e[1]})"),
        st.tuples(inner, inner).map(lambda e: f"({e[0]} - {e[1]})"),
        st.tuples(inner, st.sampled_from([2, 3, -2])).map(lambda e: f"({e[0]} // {e[1]})"),
        st.tuples(inner, st.sampled_from([2, 5])).map(lambda e: f"({e[0]} % {e[1]})"),
        st.tuples(inner, inner).map(lambda e: f"min({e[0]}, {e[1]})"),
        st.tuples(inner, inner).map(lambda e: f"max({e[0]}, {e[1]})"),
        st.tuples(st.sampled_from([-1, 2]), inner).map(lambda e: f"({e[0]} * {e[1]})"),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(FORMS)
def test_holds_where_the_form_is_not_negative(text):
    found = form_of(text)
    assert same_set(at_least_zero(found), f"{found.text} >= 0")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(FORMS, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), FORMS)
def test_comparisons(left, operator, right):
    found = formula(ast.parse(f"{left} {operator} {right}", mode="eval").body, XY)
    symbol = "=" if operator == "==" else operator
    assert found is not None
    assert same_set(found, f"{form_of(left).text} {symbol} {form_of(right).text}")
    assert same_set(f"not {found}", f"not ({form_of(left).text} {symbol} {form_of(right).text})")
