"""Which names may be read before they are written, and which live on."""

from __future__ import annotations

import ast
import textwrap

import pytest

from astile.ir import query
from astile.lower import flow


def body(text: str) -> list[ast.stmt]:
    return ast.parse(textwrap.dedent(text)).body


@pytest.mark.parametrize(
    ("text", "exposed", "written"),
    [
        ("a = b", {"b"}, {"a"}),
        ("a = b\nc = a", {"b"}, {"a", "c"}),
        ("s += 1", {"s"}, {"s"}),
        ("A[i] = s", {"A", "i", "s"}, set()),
        ("for i in range(n):\n    s += i", {"range", "n", "s"}, set()),
        ("if c:\n    a = 1\nelse:\n    a = 2", {"c"}, {"a"}),
        ("if c:\n    a = 1\nb = a", {"c", "a"}, {"b"}),
        ("for i in x:\n    if i:\n        break\n    a = 1\n    b = a", {"x"}, set()),
        ("for i in x:\n    if i:\n        a = 1\n        continue\n    b = a", {"x", "a"}, set()),
        ("while c:\n    c = d", {"c", "d"}, set()),
        ("if c:\n    a = 1\n    return\nb = a", {"c", "a"}, set()),
    ],
)
def test_exposed_and_written(text: str, exposed: set[str], written: set[str]) -> None:
    assert flow.exposed(body(text)) == exposed
    assert flow.written(body(text)) == written


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("s = 1\ny = s", {"s"}),
        ("s = 1\ns = 2\ny = s", set()),
        ("s = 1\nif c:\n    s = 2\ny = s", {"s", "c"}),
        ("for i in range(3):\n    y = s\n    s = 1", {"s", "range"}),
        ("for i in range(3):\n    s = 1\n    y = s", {"s"}),
        ("for i in range(3):\n    s = 1\nz = s", {"s", "range"}),
        ("while c:\n    s = 1\n    c = s", {"s"}),
        ("for i in range(3):\n    s = 1\n    if c:\n        break\n    s = 2\nz = s", {"c", "s"}),
    ],
)
def test_live_after_the_first_store_to_s(text: str, live: set[str]) -> None:
    made = ast.FunctionDef("f", ast.arguments([], [], None, [], [], None, []), body(text), [])
    store = next(
        each
        for each in query.statements(made)
        if isinstance(each, ast.Assign) and query.names_written(each) == {"s"}
    )
    assert flow.live_after(made, store) & {"s", "c"} == live & {"s", "c"}


def test_carried_names() -> None:
    loop = body("for i in range(3):\n    t = s\n    s = t + i")[0]
    assert isinstance(loop, ast.For)
    assert flow.carried(loop) == {"s"}


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("break", True),
        ("for j in x:\n    break", False),
        ("for j in x:\n    return", True),
        ("while c:\n    pass\nelse:\n    continue", True),
        ("if c:\n    continue", True),
        ("a = 1", False),
    ],
)
def test_what_leaves_a_loop(text: str, leaves: bool) -> None:
    assert flow.leaves(body(text)[0]) is leaves
