"""Where something reads the variable of a loop that is not inside of the loop."""

from __future__ import annotations

import ast
import textwrap

import pytest

from astile.ir import loop_variables


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(n): x[i] = i\ny = i",
        "for i in range(n): pass\ni += 1",
        "y = 0 if i else 1\nfor i in range(n): pass",
        "for i in range(i): pass",
        "for j in range(n):\n    for i in range(n): pass\n    y = i",
        "if x:\n    for i in range(n): pass\nelse:\n    x[i] = 1",
        "while i < n:\n    for i in range(n): pass",
        "i = 0\nwhile x:\n    y = i\n    for i in range(n): pass",
    ],
)
def test_reads_outside(text):
    body = ast.parse(textwrap.dedent(text)).body
    assert loop_variables.read_outside_loops(body, "i") is not None
    assert loop_variables.read_outside(body, ["i", "k"]) == {"i"}


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(n):\n    for j in range(i): x[i] = i + j",
        "for i in range(n): pass\nfor i in range(n): y = i",
        "for i in range(n): pass\ni = 0\ny = i",
        "for j in range(n):\n    for i in range(j): y = i\n    z = j",
    ],
)
def test_no_reads_outside(text):
    body = ast.parse(textwrap.dedent(text)).body
    assert loop_variables.read_outside_loops(body, "i") is None
    assert loop_variables.read_outside(body, ["i"]) == set()
