from __future__ import annotations

import ast

import pytest

from astile.analysis.reading.context import Context, Contexts
from astile.ir import query
from astile.ir.printer import print_statement
from tests.support.programs import program_from


def at(text: str, line: str) -> Context:
    program = program_from(text)
    for statement in query.statements(program.function):
        if print_statement(statement).splitlines()[0] == line:
            return Context.at(program, statement)
    raise AssertionError(line)


def e(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


TILED = """
def f(x, y):
    n = x.shape[0]
    for i_0 in range((n + 15) // 16):
        for i_1 in range(16):
            if i_0 * 16 + i_1 < n:
                y[i_0 * 16 + i_1] = x[i_0 * 16 + i_1]
"""
STORE = "y[i_0 * 16 + i_1] = x[i_0 * 16 + i_1]"


def test_guards_and_bounds_hold_where_the_statement_runs():
    here = at(TILED, STORE)
    assert here.implies(e("i_0 * 16 + i_1 < x.shape[0]")) is True
    assert here.implies(e("0 <= i_0 and i_1 <= 15")) is True
    assert here.implies(e("i_0 * 16 < n - 15")) is False
    assert here.nonnegative(e("n - 1")) is True
    assert here.nonnegative(e("n - 2")) is False
    assert here.constant_bounds(e("i_1 + 3")) == (3, 18)
    assert here.constant_bounds(e("i_0")) == (0, None)
    assert here.constant_bounds(e("n")) == (1, None)


def test_a_guard_is_not_part_of_its_own_context():
    here = at(TILED, "if i_0 * 16 + i_1 < n:")
    assert here.implies(e("i_0 * 16 + i_1 < n")) is False
    assert here.implies(e("i_0 * 16 < n")) is True


def test_equal_expressions():
    here = at(TILED, STORE)
    assert here.equal(e("(i_0 * 16 + i_1) // 16"), e("i_0")) is True
    assert here.equal(e("(i_0 * 16 + i_1) % 16"), e("i_1")) is True
    assert here.equal(e("i_0"), e("i_1")) is False


def test_what_cannot_be_read_is_unknown():
    here = at(TILED, STORE)
    assert here.implies(e("i_0 < z")) is None
    assert here.equal(e("x[0]"), e("i_0")) is None
    assert here.nonnegative(e("i_0 * i_1")) is None
    assert here.constant_bounds(e("x[0]")) == (None, None)


@pytest.mark.parametrize(
    ("header", "inside", "outside"),
    [
        ("range(n - 1, -1, -1)", "0 <= i < n", "i < n - 1"),
        ("range(3, n, 4)", "i % 4 == 3", "i % 4 == 2"),
        ("range(10, n, -3)", "(10 - i) % 3 == 0 and n < i <= 10", "i > 0"),
        ("range(min(n, 7))", "i < n and i < 7", "i < 6"),
        ("range(n // 2)", "2 * i + 1 < n", "3 * i < n"),
    ],
)
def test_ranges(header, inside, outside):
    text = f"def f(x, n):\n    for i in {header}:\n        x[i] = 0\n"
    here = at(text, "x[i] = 0")
    assert here.implies(e(inside)) is True
    assert here.implies(e(outside)) is False


def test_names_of_integers_are_followed():
    text = """
def f(x, y):
    h, w = x.shape
    m = h - 1
    for i in range(m):
        k = i + 1
        if k >= 2:
            y[k] = x[k, 0]
        y[i] = 1
"""
    here = at(text, "y[k] = x[k, 0]")
    assert here.implies(e("k == i + 1 and k < x.shape[0] and i >= 1")) is True
    assert here.implies(e("w >= 0")) is True


def test_a_changed_name_is_not_known():
    text = """
def f(x, n):
    k = 0
    for i in range(n):
        x[k] = 1
        k = k + 1
    x[0] = k
"""
    assert at(text, "x[k] = 1").implies(e("k == 0")) is None
    assert at(text, "x[0] = k").implies(e("k == 0")) is None
    assert at(text, "for i in range(n):").implies(e("k == 0")) is True


def test_inside_a_while_its_own_names_are_not_known():
    text = """
def f(x, n):
    k = 0
    while x[k] > 0:
        x[k] = 1
        k = k + 1
"""
    assert at(text, "x[k] = 1").implies(e("k == 0")) is None


def test_after_an_early_return():
    text = """
def f(x, n):
    if n < 4:
        return
    for i in range(n):
        x[i] = 1
"""
    assert at(text, "for i in range(n):").implies(e("n >= 4")) is True


def test_contexts_refuse_foreign_statements():
    contexts = Contexts(program_from(TILED))
    with pytest.raises(ValueError):
        contexts.at(ast.parse("x = 1").body[0])
