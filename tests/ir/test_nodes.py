"""Building, cloning and substituting nodes."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

from astile.errors import InternalError
from astile.ir import nodes
from astile.ir.nodes import Origin
from astile.ir.printer import print_expression, print_statement


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


# --- cloning -------------------------------------------------------------------------------------


def test_clone_is_equal_and_shares_nothing():
    text = "for i in range(n):\n    A[i] = -B[i] if i < 3 else f(i, k=2)\n"
    made = statement(text)
    copy = nodes.clone(made)
    assert ast.dump(copy, include_attributes=True) == ast.dump(made, include_attributes=True)
    assert not {id(node) for node in ast.walk(made)} & {id(node) for node in ast.walk(copy)}


def test_clone_keeps_facts():
    loop = statement("for i in range(n):\n    A[i] = 0\n")
    assert isinstance(loop, ast.For)
    nodes.set_loop_id(loop, 7)
    nodes.set_origin(loop.body[0], Origin(2, (expression("i"),)))
    nodes.add_comment(loop.body[0], "why")
    copy = nodes.clone(loop)
    held = nodes.origin(copy.body[0])
    assert nodes.loop_id(copy) == 7
    assert nodes.comments(copy.body[0]) == ("why",)
    assert held is not None
    assert held.statement == 2
    assert held.iteration[0] is not nodes.origin(loop.body[0]).iteration[0]


def test_clone_drops_what_printers_write_on_nodes():
    made = expression("a + b")
    made._pp = 3
    assert not hasattr(nodes.clone(made), "_pp")


def test_clone_body_gives_new_statements():
    body = ast.parse("a = 1\nb = 2\n").body
    copies = nodes.clone_body(body)
    assert [ast.dump(each) for each in copies] == [ast.dump(each) for each in body]
    assert copies[0] is not body[0]


# --- substitution --------------------------------------------------------------------------------


def test_substitute_replaces_reads_only():
    made = nodes.substitute(statement("i = i + A[i]"), {"i": expression("i_0 * 4 + i_1")})
    assert print_statement(made) == "i = i_0 * 4 + i_1 + A[i_0 * 4 + i_1]"


def test_substitute_gives_every_place_its_own_copy():
    made = nodes.substitute(expression("i * i"), {"i": expression("a + b")})
    assert isinstance(made, ast.BinOp)
    assert made.left is not made.right
    assert print_expression(made) == "(a + b) * (a + b)"


def test_substitute_is_simultaneous():
    values = {"i": expression("j"), "j": expression("i")}
    assert print_expression(nodes.substitute(expression("i - j"), values)) == "j - i"


def test_substitute_keeps_the_place_of_what_it_replaces():
    made = nodes.substitute(expression("a + i"), {"i": expression("k")})
    assert isinstance(made, ast.BinOp)
    assert made.right.col_offset == 4


def test_substitute_rewrites_origins():
    made = statement("A[i] = 0")
    nodes.set_origin(made, Origin(0, (expression("i"), expression("j + 1"))))
    new = nodes.substitute(made, {"i": expression("i_0 * 4 + i_1")})
    held = nodes.origin(new)
    assert held is not None
    assert [print_expression(each) for each in held.iteration] == ["i_0 * 4 + i_1", "j + 1"]


def test_substitute_does_not_change_its_argument():
    made = statement("A[i] = i")
    before = ast.dump(made)
    nodes.substitute(made, {"i": expression("k")})
    assert ast.dump(made) == before


def test_rename_replaces_reads_writes_and_origins():
    made = statement("acc = acc + A[acc]")
    nodes.set_origin(made, Origin(0, (expression("acc"),)))
    new = nodes.rename(made, {"acc": "total"})
    held = nodes.origin(new)
    assert print_statement(new) == "total = total + A[total]"
    assert held is not None
    assert print_expression(held.iteration[0]) == "total"
    assert print_statement(made) == "acc = acc + A[acc]"


# --- constants -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (3, "3"),
        (-3, "-3"),
        (True, "True"),
        (None, "None"),
        (0.5, "0.5"),
        (-0.5, "-0.5"),
        (-0.0, "-0.0"),
        (float("inf"), "float('inf')"),
        (float("-inf"), "float('-inf')"),
        (float("nan"), "float('nan')"),
        (1 - 2j, "complex(1.0, -2.0)"),
        (complex(-0.0, 1), "complex(-0.0, 1.0)"),
        ("it's", '"it\'s"'),
        (np.int64(-4), "-4"),
        (np.float32(0.5), "0.5"),
        (np.bool_(True), "True"),
        (np.float64(-2), "-2.0"),
        (10**40, "1" + "0" * 40),
        (..., "..."),
    ],
    ids=repr,
)
def test_const(value, printed):
    made = nodes.const(value)
    assert print_expression(made) == printed
    for node in ast.walk(made):
        if isinstance(node, ast.Constant):
            assert type(node.value) in (int, float, bool, str, type(None), type(...))
            assert not (isinstance(node.value, (int, float)) and math.copysign(1, node.value) < 0)


@pytest.mark.parametrize("value", [[1], (1,), {}, object(), b"x"], ids=lambda v: type(v).__name__)
def test_const_refuses_what_has_no_literal(value):
    with pytest.raises(InternalError, match="no literal"):
        nodes.const(value)


# --- builders ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "printed"),
    [
        (nodes.attribute("a", "b", "c"), "a.b.c"),
        (
            nodes.call("np.zeros", [nodes.name("n")], {"dtype": nodes.name("d")}),
            "np.zeros(n, dtype=d)",
        ),
        (nodes.binary(nodes.name("a"), ast.Add, nodes.const(1)), "a + 1"),
        (nodes.compare(nodes.name("a"), ast.LtE, nodes.const(1)), "a <= 1"),
        (nodes.conjunction([]), "True"),
        (nodes.conjunction([nodes.name("a")]), "a"),
        (nodes.conjunction([expression("a and b"), nodes.name("c")]), "a and b and c"),
        (nodes.conjunction([expression("a or b"), nodes.name("c")]), "(a or b) and c"),
        (nodes.tuple_of([nodes.name("a"), nodes.name("b")]), "(a, b)"),
        (nodes.subscript("A", [nodes.name("i")]), "A[i]"),
        (nodes.subscript("A", [nodes.name("i"), nodes.name("j")]), "A[i, j]"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_expressions(made, printed):
    assert print_expression(made) == printed
    assert ast.dump(expression(printed)) == ast.dump(made)


@pytest.mark.parametrize(
    ("made", "printed"),
    [
        (nodes.assign("x", nodes.const(1)), "x = 1"),
        (
            nodes.assign(nodes.subscript("A", [nodes.name("i")], store=True), nodes.const(1)),
            "A[i] = 1",
        ),
        (
            nodes.for_loop("i", nodes.call("range", [nodes.const(3)]), [ast.Pass()]),
            "for i in range(3):\n    pass",
        ),
        (nodes.if_then(nodes.name("a"), [ast.Pass()]), "if a:\n    pass"),
        (
            nodes.if_then(nodes.name("a"), [ast.Pass()], [ast.Pass()]),
            "if a:\n    pass\nelse:\n    pass",
        ),
        (nodes.import_as("numpy", "np"), "import numpy as np"),
        (nodes.import_as("math", "math"), "import math"),
        (nodes.import_from("a.b", ["c", "d as e"]), "from a.b import c, d as e"),
        (nodes.function("f", ["a", "b"], [ast.Pass()]), "def f(a, b):\n    pass"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_statements(made, printed):
    assert print_statement(made) == printed
    assert nodes.same(statement(printed), made)


def test_a_loop_may_be_born_with_an_identity():
    loop = nodes.for_loop("i", nodes.call("range", [nodes.const(3)]), [ast.Pass()], 5)
    assert nodes.loop_id(loop) == 5
    assert nodes.loop_id(nodes.for_loop("i", nodes.name("A"), [ast.Pass()])) is None


def test_comments_are_one_line_each():
    made = nodes.assign("x", nodes.const(1))
    nodes.add_comment(made, "first\nline")
    nodes.add_comment(made, "  second  ")
    assert nodes.comments(made) == ("first line", "second")


# --- comparison ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a + b", "a  +  b", True),
        ("a + b", "a - b", False),
        ("f(1)", "f(1.0)", False),
        ("f(0.0)", "f(-0.0)", False),
        ("f(1)", "f(True)", False),
        ("f(a)", "f(a, b)", False),
        ("f(a)", "f(k=a)", False),
        ("a[0]", "a[0:]", False),
        ("'a'", "'b'", False),
        ("1e400", "1e500", True),
    ],
)
def test_same(first, second, expected):
    assert nodes.same(expression(first), expression(second)) is expected


def test_same_looks_at_contexts():
    assert not nodes.same(nodes.name("a"), nodes.target("a"))


def test_same_ignores_places_and_facts():
    first, second = statement("x = 1"), statement("\n\nx = 1")
    nodes.add_comment(first, "comment")
    assert nodes.same(first, second)
