from __future__ import annotations

import ast

import pytest

from astile.ir import query
from astile.ir.printer import print_statement
from astile.ir.stages import stages
from tests.support.programs import program_from


def named(text: str) -> list[str]:
    return [each.name for each in stages(program_from(text).function)]


def statements_of(text: str, name: str) -> list[str]:
    function = program_from(text).function
    every = list(query.statements(function))
    [stage] = [each for each in stages(function) if each.name == name]
    return [print_statement(every[position]) for position in stage.positions]


CONV = """
def f(x, w, out):
    H, W = out.shape
    conv = np.empty((H, W))
    for i in range(H):
        for j in range(W):
            conv[i, j] = 0.0
            for a in range(3):
                conv[i, j] += x[i + a, j] * w[a]
    for i in range(H):
        for j in range(W):
            out[i, j] = conv[i, j] + 1
"""


def test_a_start_value_and_its_updates_are_one_stage() -> None:
    assert named(CONV) == ["H", "W", "conv", "out"]
    assert statements_of(CONV, "conv") == [
        "conv[i, j] = 0.0",
        "conv[i, j] += x[i + a, j] * w[a]",
    ]


def test_allocations_are_none() -> None:
    assert named("def f(x):\n    a = np.empty(3)\n    b = np.zeros_like(x)\n    x[0] = 1\n") == [
        "x"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "for i in range(3):\n        a[i] = 0\n    for i in range(3):\n        a[i] += 1",
            ["a#0", "a#1"],
        ),
        (
            "for i in range(3):\n        for k in range(2):\n            a[i] = 0\n"
            "        for k in range(2):\n            a[i] += 1",
            ["a#0", "a#1"],
        ),
        ("a[0] = 1\n    a[1] = 2", ["a"]),
        ("a[0] = 1\n    for i in range(3):\n        a[i] = 2", ["a#0", "a#1"]),
        ("for i in range(3):\n        a[i] = 1\n        a[i] = a[i] * 2", ["a"]),
        ("for i in range(3):\n        s = a[i]\n        b[i] = s", ["s", "b"]),
        ("for i in range(3):\n        a[i], b[i] = 1, 2", ["a", "b"]),
        ("if a[0] > 1:\n        a[0] = 1\n    else:\n        a[0] = 2", ["a"]),
        (
            "for i in range(3):\n        if a[i] > 1:\n            b[i] = 1\n        b[i] += 1",
            ["b"],
        ),
        ("for i in range(3):\n        while a[i] > 1:\n            a[i] -= 1", ["a"]),
        ("return a", []),
    ],
)
def test_what_is_together(text: str, expected: list[str]) -> None:
    assert named(f"def f(a, b):\n    {text}\n") == expected


def test_positions_hold_in_a_clone() -> None:
    program = program_from(CONV)
    twin = program.cloned()
    assert stages(program.function) == stages(twin.function)
    every = list(query.statements(twin.function))
    [conv] = [each for each in stages(twin.function) if each.name == "conv"]
    assert all(isinstance(every[k], (ast.Assign, ast.AugAssign)) for k in conv.positions)
