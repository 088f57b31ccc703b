"""Printed text: parses to the same tree, wraps as a formatter would, is the same on all Pythons."""

# ruff: noqa: E501 - long lines are what this file is about

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import InternalError
from astile.ir import nodes, printer

Golden = Callable[[str, str], None]

LONG = '''
"""A module of long lines."""
import math
import numpy as np
from numpy import float32, int32
from astile.loops import block, shared, thread
LIMIT = 3
WEIGHT = -0.5

def kernel_with_a_long_name(first_argument, second_argument, third_argument, fourth_one, fifth=1.0):
    """A docstring, which may be as long as it likes: f(aaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbb, ccccccccc)

    x = f(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, ccccccccccccccccccccccccc)
    """
    by[y, x] = (K2 * (gray[ym2, x] + gray[yp2, x]) + K1 * (gray[ym1, x] + gray[yp1, x]) + K0 * gray[y, x]) / NORM
    out[i_0 * 16 + i_1, j_0 * 16 + j_1, k_0 * 32 + k_1 + 1, l_0] = out[i_0 * 16 + i_1, j_0 * 16 + j_1, k_0] + 1
    out[i_0 * 16 + i_1, j_0 * 16 + j_1] += weights[p, q] * image[i_0 * 16 + i_1 + p, j_0 * 16 + j_1 + q] * LIMIT
    lap[i, j, k] = 4.0 * inp[i + 1, j + 1, k] - (inp[i + 2, j + 1, k] + inp[i, j + 1, k] + inp[i + 1, j + 2, k])
    value[position, other_position] = -(first_operand_with_a_name ** 2) * -second_operand_with_a_name % third_operand
    if i_0 * 16 + i_1 < n_rows_of_the_output and j_0 * 16 + j_1 < n_columns_of_the_output and k_0 * 4 + k_1 < LIMIT:
        out[i, j] = foo(a_very_long_argument_name_number_one, a_very_long_argument_name_number_two, third_argument)
    elif first_condition_with_a_long_name or second_condition_with_a_long_name and not third_condition_with_a_name:
        out[i, j] = first_value_with_a_long_name if first_condition_with_a_long_name < 0 else second_value_of_a_long_name
    for tile in range(max(0, (first_bound_of_this_loop + 16) // 32, second_bound), min(third_bound, fourth_bound * 16 + 15), 16):
        tile_of_the_image = shared.empty((rows_of_the_tile + 2 * LIMIT, columns_of_the_tile + 2 * LIMIT), np.float32)
        first, second, third = image[y - 1, x - 1] * WEIGHT, image[y - 1, x] * WEIGHT, image[y - 1, x + 1] * WEIGHT
    while position < number_of_positions_in_this_row and image[row, position] != image[row, position + 1] * 2:
        position += 1
    assert first_operand_with_a_name.shape[0] == second_operand_with_a_name.shape[0], "arrays differ in length"
    temporary_with_a_long_name = some_array_with_a_long_name_too.astype(np.float32).reshape(rows, columns).copy()
    raise ValueError("the arrays have different lengths, namely", first_operand_with_a_name, second_operand_name)
    return first_value_with_a_long_name, second_value_with_a_long_name, third_value_with_a_long_name, fourth

def small(x):
    return x
'''


def test_long_lines(golden: Golden) -> None:
    tree = ast.parse(LONG)
    text = printer.print_module(tree.body)
    assert nodes.same(ast.parse(text), tree)
    for line in text.splitlines():
        assert len(line) <= printer.WIDTH or "x = f(aaa" in line or "A docstring" in line
    golden("printer/long_lines.py", text)


def test_wrapped_text_is_wrapped_the_same_way_again():
    text = printer.print_module(ast.parse(LONG).body)
    assert printer.print_module(ast.parse(text).body) == text


SMALL = {
    "numbers": "x = -1 ** 2 + 1e-05 - 0.1 + 1e300 * 3j",
    "precedence": "x = (a + b) * c ** -d // (e % f) - (g - (h - i))",
    "comparison": "x = not (a < b <= c) and (d or e) == f",
    "ternary": "x = a if b else c if d else e",
    "strings": "x = \"it's\"\ny = 'say \"hi\"'\nz = 'both \\' and \"'\nw = 'a\\nb'",
    "slices": "A[1:, ::2, -1] = B[..., None, :n]",
    "tuple index": "A[i, j], b = (A[j, i], (c, d))",
    "empty tuple": "x = ()\ny = (1,)",
    "bits": "x = ~a & b | c ^ d << 2 >> e",
    "calls": "x = f()(a, *b, c=d, **e).g[0].h",
    "matrix product": "x = a @ b * c",
    "big": "x = 10 ** 100 + 123456789012345678901234567890",
    "header": "def f(a, b=1, /, c=-2, *, d, e=(1, 2)):\n    return",
    "branches": "if a:\n    pass\nelif b:\n    x = 1\nelse:\n    x = 2",
    "docstring with quotes": 'def f():\n    """Holds \\"\\"\\" and \\\\n."""',
}


@pytest.mark.parametrize("text", SMALL.values(), ids=SMALL.keys())
def test_round_trip(text):
    tree = ast.parse(text)
    assert nodes.same(ast.parse(printer.print_module(tree.body)), tree)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a[i+1,j]=0", "a[i + 1, j] = 0"),
        ("x='text'", 'x = "text"'),
        ("x = a*-b", "x = a * -b"),
        ("return a, b", "return a, b"),
        ("for i in range(0,n,2): pass", "for i in range(0, n, 2):\n    pass"),
        ("x = (1)", "x = 1"),
    ],
)
def test_looks_as_people_write_it(text, printed):
    body = f"def f():\n{textwrap.indent(text, '    ')}\n"
    assert printer.print_module(ast.parse(body).body) == (
        f"def f():\n{textwrap.indent(printed, '    ')}\n"
    )


def test_a_shared_node_is_printed_right():
    index = ast.parse("i_0 * 4 + i_1", mode="eval").body
    access = ast.Subscript(nodes.name("A"), index, ast.Load())
    product = nodes.binary(access, ast.Mult, index)
    assert printer.print_statement(nodes.assign("x", product)) == (
        "x = A[i_0 * 4 + i_1] * (i_0 * 4 + i_1)"
    )


def test_what_astor_cannot_print_is_printed():
    text = "match x:\n    case 1:\n        y = 1\n"
    tree = ast.parse(text)
    assert nodes.same(ast.parse(printer.print_module(tree.body)), tree)


@pytest.mark.parametrize("text", ["a[(n, 1):2]", "f'{x}'"])
def test_what_astor_prints_wrong_is_printed_right(text):
    tree = ast.parse(f"y = {text}")
    assert nodes.same(ast.parse(printer.print_module(tree.body)), tree)


def test_a_tree_that_no_printer_prints():
    broken = nodes.assign("x", ast.Constant(-1))
    with pytest.raises(InternalError, match="does not parse to the program"):
        printer.print_module([broken])


def test_printing_does_not_change_the_tree():
    tree = ast.parse(LONG)
    before = ast.dump(tree, include_attributes=True)
    printer.print_module(tree.body)
    assert ast.dump(tree, include_attributes=True) == before
    assert not any(hasattr(node, "_pp") for node in ast.walk(tree))


# --- comments and blank lines --------------------------------------------------------------------


def test_comments_and_blank_lines(golden: Golden) -> None:
    text = """
        def f(A, B):
            n = len(A)
            for i in range(n):
                for j in range(n):
                    A[i, j] = 0
                A[i, 0] = 1
            for i in range(n):
                if i:
                    B[i] = A[i, 0]
            s = 0
            while s < 3:
                s += 1
            t = s
            return t
    """
    tree = ast.parse(textwrap.dedent(text))
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    nodes.add_comment(function, "the whole function")
    nodes.add_comment(function.body[1], "first\nloop")
    nodes.add_comment(function.body[2], "a comment of many words " * 8)
    nodes.add_comment(function.body[2], "and another")
    inner = function.body[2].body[0].body[0]
    nodes.add_comment(inner, "inside")
    printed = printer.print_module(tree.body)
    assert nodes.same(ast.parse(printed), tree)
    assert all(len(line) <= 100 for line in printed.splitlines())
    golden("printer/comments.py", printed)


def test_a_comment_above_a_decorated_function():
    tree = ast.parse("x = 1\n@decorate\n@again\ndef f():\n    pass\n")
    nodes.add_comment(tree.body[1], "why")
    assert printer.print_module(tree.body) == (
        "x = 1\n\n\n# why\n@decorate\n@again\ndef f():\n    pass\n"
    )


def test_a_comment_cannot_start_a_line_of_code():
    statement = nodes.assign("x", nodes.const(1))
    nodes.add_comment(statement, "first\nimport os\r\nimport sys\x0bimport re\u2028y = 1")
    text = printer.print_module([statement])
    assert nodes.same(ast.parse(text), nodes.module_of([statement]))
    assert [line for line in text.splitlines() if not line.startswith("#")] == ["x = 1"]


def test_one_expression_and_one_statement():
    expression = ast.parse("a[i + 1] * (b - c)", mode="eval").body
    assert printer.print_expression(expression) == "a[i + 1] * (b - c)"
    statement = ast.parse("for i in range(3):\n    x = i").body[0]
    assert printer.print_statement(statement) == "for i in range(3):\n    x = i"


# --- properties ----------------------------------------------------------------------------------

names = st.sampled_from(["i", "alpha", "a_long_name_of_a_value", "another_quite_long_name_here"])
atoms = names | st.integers(0, 10**6).map(str) | st.sampled_from(["0.5", "-1", "'text'", "1e-05"])


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(
        ["+", "-", "*", "/", "//", "%", "**", "<", "==", "and", "or", "in", "not in", "is not", "|"]
    )
    return st.one_of(
        st.tuples(inner, operators, inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
        st.lists(inner, min_size=1, max_size=5).map(lambda t: f"fun({', '.join(t)})"),
        st.lists(inner, min_size=1, max_size=4).map(lambda t: f"A[{', '.join(t)}]"),
        st.lists(inner, min_size=2, max_size=4).map(lambda t: f"({', '.join(t)})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(names, inner).map(lambda t: f"{t[0]}.method({t[1]}).member"),
        st.tuples(st.sampled_from(["-", "not ", "~"]), inner).map(lambda t: f"({t[0]}({t[1]}))"),
        st.tuples(names, names, inner).map(lambda t: f"A[{t[0]}:{t[1]}, ::2, {t[2]}]"),
    )


expressions = st.recursive(atoms, compound, max_leaves=40)
templates = st.sampled_from(
    [
        "x = {}",
        "A[{}] = {}",
        "A[i, {}] += {}",
        "if {}:\n        x = {}",
        "while {}:\n        x = {}",
        "for i in range({}, {}):\n        pass",
        "return {}, {}",
        "raise ValueError({}, {})",
        "assert {}, 'why'",
        "f({}, key={})",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(templates, expressions, expressions), min_size=1, max_size=3))
def test_random_programs_round_trip(parts):
    lines = []
    for template, first, second in parts:
        lines.append("    " + template.format(first, second))
    tree = ast.parse("def f(A):\n" + "\n".join(lines) + "\n")
    text = printer.print_module(tree.body)
    assert nodes.same(ast.parse(text), tree)
    assert printer.print_module(ast.parse(text).body) == text
    for line in text.splitlines():
        assert len(line) <= printer.WIDTH or not set(line.strip()) & set(" ,")
