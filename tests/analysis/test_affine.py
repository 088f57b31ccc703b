from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.analysis.forms import affine
from astile.analysis.reading.context import Context
from astile.ir.printer import print_expression
from tests.support.evaluate import value_of
from tests.support.programs import program_from

HERE = """
def f(x, n, m):
    for i in range(n):
        for j in range(16):
            x[i, j] = 0
"""


def e(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def normal(text: str) -> str:
    return print_expression(affine.of(e(text)).expression())


# --- normal form --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i + 0", "i"),
        ("0 + i", "i"),
        ("i * 1", "i"),
        ("i - i", "0"),
        ("-(-i)", "i"),
        ("+i", "i"),
        ("2 * i + i * 3", "i * 5"),
        ("i_0 * 16 + i_1 - i_0 * 16", "i_1"),
        ("3 - i", "3 - i"),
        ("-i", "-i"),
        ("-3", "-3"),
        ("(i + j) * 4", "i * 4 + j * 4"),
        ("i * j - i * j", "0"),
        ("A.shape[0] - 1 + 1", "A.shape[0]"),
        ("i << 3", "i * 8"),
        ("(i * 8 + j) >> 3", "i + j // 8"),
        ("(16 * i + j) // 16", "i + j // 16"),
        ("(16 * i + j) % 16", "j % 16"),
        ("(16 * i) // 8", "i * 2"),
        ("(16 * i) % 8", "0"),
        ("(6 * i + 4 * j) // 2", "i * 3 + j * 2"),
        ("(4 * i + 3) // 8", "i // 2"),
        ("(4 * i + 4) // 8", "(i + 1) // 2"),
        ("x // 4 // 8", "x // 32"),
        ("(x // 4 + 3) // 8", "(x + 12) // 32"),
        ("(n + 15) // 16", "(n + 15) // 16"),
        ("(n - 2) // 4", "(n - 2) // 4"),
        ("(n + 16) // 16", "n // 16 + 1"),
        ("x // 1", "x"),
        ("x % 1", "0"),
        ("7 // 2", "3"),
        ("-7 // 2", "-4"),
        ("-7 % 2", "1"),
        ("x // 16 * 16 + x % 16", "x"),
        ("x % 16 + x // 16 * 16 + 3", "x + 3"),
        ("x // 15 * 15 + x // 5 % 3 * 5 + x % 5", "x"),
        ("x % 16 + x // 16 * 15", "x % 16 + x // 16 * 15"),
        ("max(i + 0, 0)", "max(i, 0)"),
        ("x // n", "x // n"),
        ("x // -2", "x // -2"),
        ("x ** 2", "x ** 2"),
        ("idx[i + 0]", "idx[i + 0]"),
    ],
)
def test_the_normal_form(text: str, expected: str) -> None:
    assert normal(text) == expected


def test_atoms_are_told_apart_by_their_text() -> None:
    assert affine.of(e("a[i] - a[j]")).value is None
    assert affine.of(e("a[i] - a[i]")).value == 0


def test_equal_forms_are_equal_whatever_their_order() -> None:
    assert affine.of(e("i + j * 2")) == affine.of(e("2 * j + i"))
    assert hash(affine.of(e("i + j * 2"))) == hash(affine.of(e("2 * j + i")))
    assert affine.of(e("i")) != affine.of(e("i + 1"))
    assert affine.of(e("i")) != "i"


def test_substitution_reaches_into_atoms() -> None:
    form = affine.of(e("i * 2 + (i + j) // 4 + max(i, 3)"))
    moved = form.substituted({"i": affine.of(e("k + 1"))})
    assert print_expression(moved.expression()) == "k * 2 + (k + j + 1) // 4 + max(k + 1, 3) + 2"


def test_names_and_coefficients() -> None:
    form = affine.of(e("3 * i - j // 2 + 7"))
    assert form.names() == {"i", "j"}
    assert (form.coefficient("i"), form.coefficient("j"), form.constant) == (3, 0, 7)
    assert form.mentions("j")
    assert not form.without("i").mentions("i")


def test_the_input_is_not_changed_and_nothing_is_shared() -> None:
    tree = e("max(i + 0, 1) * 2 + x // 4")
    text = ast.dump(tree)
    made = affine.of(tree).expression()
    assert ast.dump(tree) == text
    assert not {id(n) for n in ast.walk(tree) if isinstance(n, ast.expr)} & {
        id(n) for n in ast.walk(made) if isinstance(n, ast.expr)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1 + i", "1 + i"), ("i + 1 - 1", "i"), ("j + i", "j + i"), ("2 * (i + j)", "2 * (i + j)")],
)
def test_simplified_keeps_what_is_as_short(text: str, expected: str) -> None:
    assert print_expression(affine.simplified(e(text))) == expected


# --- properties ---------------------------------------------------------------------------------

leaves = st.sampled_from(["i", "j", "n", "m", "0", "1", "2", "7", "16", "-3"])


def _combined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    number = st.integers(1, 17).map(str)
    return st.one_of(
        st.tuples(parts, st.sampled_from(["+", "-"]), parts).map(lambda t: f"({' '.join(t)})"),
        st.tuples(parts, number).map(lambda t: f"{t[0]} * {t[1]}"),
        st.tuples(parts, st.sampled_from(["//", "%"]), number).map(
            lambda t: f"({t[0]}) {t[1]} {t[2]}"
        ),
        parts.map(lambda t: f"-({t})"),
        st.tuples(st.sampled_from(["min", "max"]), parts, parts).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"
        ),
    )


expressions = st.recursive(leaves, _combined, max_leaves=7)


@settings(max_examples=200, deadline=None)
@given(
    expressions,
    st.lists(
        st.fixed_dictionaries({name: st.integers(-40, 40) for name in "ijnm"}),
        min_size=1,
        max_size=5,
    ),
)
def test_the_normal_form_has_the_same_value(text: str, points: list[dict[str, int]]) -> None:
    made = print_expression(affine.of(e(text)).expression())
    for point in points:
        assert value_of(text, point) == value_of(made, point)


@settings(max_examples=60, deadline=None)
@given(expressions)
def test_isl_finds_the_normal_form_equal(text: str) -> None:
    program = program_from(HERE)
    statement = program.function.body[0].body[0].body[0]  # type: ignore[attr-defined]
    here = Context.at(program, statement)
    assert here.equal(e(text), affine.of(e(text)).expression()) in (True, None)
    assert here.equal(e("i"), e("i + 1")) is False


@settings(max_examples=60, deadline=None)
@given(expressions)
def test_the_normal_form_is_its_own(text: str) -> None:
    once = affine.of(e(text))
    assert affine.of(once.expression()) == once


@settings(max_examples=60, deadline=None)
@given(expressions, expressions, st.integers(-5, 5))
def test_arithmetic_of_forms(one: str, other: str, factor: int) -> None:
    first, second = affine.of(e(one)), affine.of(e(other))
    point = {"i": 5, "j": -7, "n": 23, "m": 4}

    def value(form: affine.Affine) -> int:
        return int(value_of(print_expression(form.expression()), point))

    assert value(first + second) == value(first) + value(second)
    assert value(first - second) == value(first) - value(second)
    assert value(first * factor) == value(first) * factor
    assert value(-first) == -value(first)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("max(-1, 0)", "0"),
        ("min(n + 1, n, n + 3)", "n"),
        ("max(i - 2, i) + 1", "i + 1"),
        ("max(n, 0)", "max(n, 0)"),
        ("min(i, n)", "min(i, n)"),
        ("min(min(i, n), m)", "min(i, n, m)"),
        ("min(16, min(n, 8) + 1)", "min(9, n + 1)"),
        ("max(i, n, i + 2)", "max(i + 2, n)"),
        ("max(min(i, n), m)", "max(min(i, n), m)"),
        ("min(min(*i, n), m)", "min(min(*i, n), m)"),
    ],
)
def test_extremes_of_arguments_that_differ_by_numbers(text: str, wanted: str) -> None:
    assert print_expression(affine.of(e(text)).expression()) == wanted
