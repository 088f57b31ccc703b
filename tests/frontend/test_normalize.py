"""Canonical forms: what changes, what must not, and that the meaning is kept."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.frontend.normalize import normalize
from astile.ir import nodes
from astile.ir.printer import print_module


def normalized(text: str) -> str:
    function = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(function, ast.FunctionDef)
    before = ast.dump(function)
    made = normalize(function)
    assert ast.dump(function) == before
    return print_module([made])


UNCHANGED = {
    "chained comparison": "if 0 <= n < 3:\n    A[0] = 1",
    "docstring": '"""Doc."""\nA[0] = 1',
    "lone docstring": '"""Doc."""',
    "tuple assignment": "a, b = b, n\na, A[0] = 1, a",
    "augmented assignment": "A[0] += 1",
    "slice of a slice": "A[1:][0] = 1",
    "row by a mask": "m = A[0] > 1\nA[m][0] = 1",
    "row by an unknown": "A[k][0] = 1",
    "row by a parameter": "A[n][0] = 1",
    "row by an array of indices": "for i in range(n):\n    A[B[i]][0] = 1",
    "row by a changed name": "for i in range(n):\n    i = B\n    A[i][0] = 1",
    "row of a local": "rows = B\nfor i in range(n):\n    rows[i][0] = 1",
    "row of a changed argument": "A = B\nfor i in range(n):\n    A[i][0] = 1",
    "row by a shape": "m = A.shape[0:1]\nA[m][0] = 1",
    "field of a record": 'for i in range(n):\n    A[i]["x"] = 1',
    "row by an element loop": "for i in B:\n    A[i][0] = 1",
    "row by a division": "for i in range(n):\n    A[i / 2][0] = 1",
    "member of a call": "np.array(A)[0][0] = 1",
}


@pytest.mark.parametrize("text", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_unchanged(text):
    function = "def f(A, B, n):\n" + textwrap.indent(text, "    ") + "\n"
    assert normalized(function) == print_module(ast.parse(function).body)


CHANGED = {
    "annotated assignment": ("a: int = 3\nA[0]: float = 1.0", "a = 3\nA[0] = 1.0"),
    "declaration": ("a: int\na = 3", "a = 3"),
    "pass beside others": ("A[0] = 1\npass", "A[0] = 1"),
    "pass in a branch": ("if n:\n    pass\nelse:\n    A[0] = 1", None),
    "chained constants": ("a = b = 0.0", "a = 0.0\nb = 0.0"),
    "chained minus": ("a = b = -1", "a = -1\nb = -1"),
    "chained name": ("a = b = n", "a = n\nb = n"),
    "chained name that is written": ("B[n] = n = n", "value = n\nB[n] = value\nn = value"),
    "chained calls": ("a = b = max(n, 1)", "a = max(n, 1)\nb = a"),
    "chained cell first": ("A[0] = b = n * 2", "value = n * 2\nA[0] = value\nb = value"),
    "chained, taken": ("value = 1\nA[0] = b = n * 2", None),
    "chained index": ("a = A[a] = n + 1", "a = n + 1\nA[a] = a"),
    "chained tuple": ("(a, b) = c = n, 1", "value = n, 1\na, b = value\nc = value"),
    "rows": ("for i in range(n):\n    A[i][0] = B[i + 1][i]", None),
    "three axes": ("for i in range(n):\n    A[i][i][0] = 1", None),
    "row and slice": ("A[0][1:] = 1", "A[0, 1:] = 1"),
    "row by a size": ("m = len(A)\nA[m - 1][0] = 1", "m = len(A)\nA[m - 1, 0] = 1"),
    "allocated": ("C = np.zeros((n, n))\nC[0][0] = 1", "C = np.zeros((n, n))\nC[0, 0] = 1"),
    "shape as a list": ("C = np.zeros([n, 2])", "C = np.zeros((n, 2))"),
}
EXPECTED = {
    "pass in a branch": "if n:\n    pass\nelse:\n    A[0] = 1",
    "chained, taken": "value = 1\nvalue_1 = n * 2\nA[0] = value_1\nb = value_1",
    "rows": "for i in range(n):\n    A[i, 0] = B[i + 1, i]",
    "three axes": "for i in range(n):\n    A[i, i, 0] = 1",
}


@pytest.mark.parametrize("name", CHANGED)
def test_changed(name):
    before, after = CHANGED[name]
    after = EXPECTED[name] if after is None else after
    function = "def f(A, B, n):\n{}\n"
    expected = ast.parse(function.format(textwrap.indent(after, "    "))).body
    got = normalized(function.format(textwrap.indent(before, "    ")))
    assert got == print_module(expected)


def test_header():
    text = """
        @decorate
        def f(A: Array, n: int = 4, /, *, k: "text" = None) -> None:
            return None
    """
    assert normalized(text) == "def f(A, n=4, /, *, k=None):\n    return None\n"


def test_statements_keep_their_place():
    function = ast.parse("def f(A, B):\n    a = b = max(A)\n    c: int = 1\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    places = [(each.lineno, each.col_offset) for each in normalize(function).body]
    assert places == [(2, 4), (2, 4), (3, 4)]


def test_nodes_are_not_shared():
    function = ast.parse("def f(A, n):\n    a = b = c = -n\n    A[0] = A[1] = n\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    seen = [id(node) for node in ast.walk(normalize(function)) if isinstance(node, ast.expr)]
    assert len(seen) == len(set(seen))


# --- keeps the meaning --------------------------------------------------------------------------

targets = st.sampled_from(["a", "b", "A[0]", "A[a]", "A[b]", "B[a][b]", "B[0][A[0]]", "n"])
scalars = st.sampled_from(["1", "-2", "a", "b", "n", "a + 1", "A[a]", "B[0][1]", "min(a, n)"])
statements = st.builds(
    lambda names, value: " = ".join([*names, value]),
    st.lists(targets, min_size=1, max_size=4),
    scalars,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(statements, min_size=1, max_size=4))
def test_chained_assignments_keep_their_meaning(lines):
    text = "def f(A, B, n):\n    a = 0\n    b = 1\n"
    text += "".join(f"    {line}\n" for line in lines) + "    return a, b, n\n"
    results = []
    for tree in (ast.parse(text).body[0], normalize(ast.parse(text).body[0])):
        module = ast.fix_missing_locations(nodes.module_of([tree]))
        space: dict[str, Any] = {}
        exec(compile(module, "<test>", "exec"), space)
        A, B = np.arange(9) % 3, np.arange(9).reshape(3, 3) % 3
        try:
            value = space["f"](A, B, 2)
        except IndexError:
            value = "index error"
        results.append((value, A.tolist(), B.tolist()))
    assert results[0] == results[1]
