from __future__ import annotations

import ast

import pytest

from astile.analysis.forms.params import names_of, readable
from astile.analysis.reading.statements import leaves, survey, with_origins
from astile.ir import nodes
from astile.ir.printer import print_statement
from tests.support.programs import program_from


def texts(text: str) -> list[str]:
    return [print_statement(leaf.node).splitlines()[0] for leaf in leaves(program_from(text))]


def test_counted_loops_and_static_conditions_are_no_leaves():
    text = """
def f(A, n, s):
    "text"
    m = n - 1
    for i in range(m):
        if i < 3 and not i == 1:
            A[i] = 1
        else:
            A[i] = 2
        pass
"""
    assert texts(text) == ["m = n - 1", "A[i] = 1", "A[i] = 2"]


@pytest.mark.parametrize(
    "block",
    [
        "while A[0] > 0:\n        A[0] = 1",
        "if A[0] > 0:\n        A[0] = 1",
        "for i in range(n):\n        if A[i] > 0:\n            break\n        A[i] = 1",
        "for i in range(n):\n        return",
        "for i in range(A[0]):\n        A[i] = 1",
        "for i in range(n):\n        i = i + 1\n        A[i] = 1",
        "for i in range(0, n, k):\n        A[i] = 1",
        "for v in A:\n        B[0] = v",
        "for i in range(n):\n        A[i] = 1\n    else:\n        A[0] = 2",
        "with np.errstate():\n        A[0] = 1",
    ],
)
def test_what_cannot_be_counted_is_one_leaf(block):
    found = leaves(program_from(f"def f(A, B, n, k):\n    B[0] = 0\n    {block}\n"))
    assert len(found) == 2
    assert not found[1].is_simple
    assert found[1].place.levels == ()


def test_origins_are_numbers_and_own_loop_variables():
    text = """
def f(A, n):
    A[0] = 1
    for i in range(n):
        for j in range(i):
            A[i] = j
"""
    program = program_from(text)
    made = with_origins(program)
    origins = [nodes.origin(leaf.node) for leaf in leaves(made)]
    assert [each.statement for each in origins if each] == [0, 1]
    assert [print_statement(ast.Expr(e)) for e in origins[1].iteration] == ["i", "j"]
    assert all(nodes.origin(leaf.node) is None for leaf in leaves(program))


def test_names_of_sizes_are_one_parameter():
    text = """
def f(A, B, n):
    h, w = A.shape
    k = len(A) - 1
    T = np.empty((h, w // 2))
    for i in range(k):
        for j in range(T.shape[1]):
            B[i, j, n] = T[i, j]
"""
    program = program_from(text)
    [leaf] = [each for each in leaves(program) if each.place.levels]
    first, second = leaf.place.levels
    assert first.stop.text == "(1*s0_A + -1)"
    assert second.stop.text == "(1*floor((1*s1_A)/2))"
    names = names_of(program)
    assert names.integers == {"n"}
    assert names.ranks == {"A": 2, "B": 3, "T": 2}
    assert [readable(each, names) for each in ("s0_A", "n_n")] == ["A.shape[0]", "n"]


def test_a_name_bound_under_a_condition_is_known_when_both_ways_agree():
    text = """
def f(A, n):
    if len(A) > 3:
        k, m = 2, 1
    else:
        k, m = 2, 5
    for i in range(k):
        A[i] = 0
    for i in range(m):
        A[i] = 1
"""
    found = leaves(program_from(text))
    assert [len(each.place.levels) for each in found] == [0, 0, 1, 0]
    assert not found[-1].is_simple


def test_shadowed_functions_and_names_mean_nothing():
    text = "def f(A, n, min):\n    for i in range(min(n, 3)):\n        A[i] = 0\n"
    assert len(leaves(program_from(text))[0].place.levels) == 0


def test_after_static_exits_the_rest_runs_only_where_they_were_not_taken():
    text = """
def f(A, n):
    if len(A) < 4:
        return
    assert len(A) % 2 == 0
    A[0] = 1
"""
    last = survey(program_from(text)).leaves[-1]
    assert len(last.place.constraints) == 2


def test_a_condition_on_what_may_be_no_integer_is_one_on_data():
    text = "def f(A, n):\n    if n > 3:\n        A[0] = 1\n"
    [leaf] = leaves(program_from(text))
    assert not leaf.is_simple
    counted = text + "    for i in range(n):\n        A[i] = 2\n"
    assert leaves(program_from(counted))[0].is_simple


def test_a_value_with_an_annotation_is_assigned():
    [first, second] = leaves(program_from("def f(A):\n    s: float = 1.0\n    A[0] = s\n"))
    assert isinstance(first.node, ast.AnnAssign)
    assert isinstance(second.node, ast.Assign)
    assert len(leaves(program_from("def f(A):\n    s: float\n    A[0] = 1\n"))) == 1


def test_an_array_like_another_has_as_many_axes():
    text = """
def f(a, c):
    b = np.zeros_like(a)
    d = np.ones_like(c)
    b[0, 0] = 1
    c[0] = 2
"""
    assert names_of(program_from(text)).ranks == {"a": 2, "b": 2, "c": 1, "d": 1}


@pytest.mark.parametrize(
    ("block", "value"),
    [
        ("k = i - 1\n        if k < 0:\n            k = 0", "max((0), (1*v0_i + -1))"),
        ("if i >= 2:\n            k = i - 2\n        else:\n            k = 0", "max"),
        ("k = 0\n        if i > 0:\n            k = i - 1", "max"),
        ("if i > 0:\n            k = 4\n        else:\n            k = 4", "(4)"),
        ("k = 1\n        if i > 0:\n            k = i", "max((1), (1*v0_i))"),
        ("k = 9\n        if i > 5:\n            k = 7", None),
        ("k = i\n        if i > 5:\n            A[0] = 7\n            k = A[0]", None),
        ("if i > 0:\n            k = i", None),
    ],
)
def test_names_that_a_condition_clamps(block, value):
    text = f"def f(A, B, n):\n    for i in range(n):\n        {block}\n        B[i] = A[k]\n"
    last = leaves(program_from(text))[-1]
    found = last.place.scope.values.get("k")
    assert found is None if value is None else found is not None and value in found.text
