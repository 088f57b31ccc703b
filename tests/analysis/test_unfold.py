"""Inlined values are proved like statements: what they say they stand for is not trusted."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from astile.analysis.proof.equivalence import compare
from astile.analysis.proof.verdicts import Proved
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.statements import leaves, with_origins
from astile.analysis.reading.unfold import unfolded
from astile.ir import nodes
from astile.ir.module import module_text
from astile.ir.nodes import Origin
from astile.ir.printer import print_expression
from astile.ir.program import Program
from tests.support.programs import program_from

SCALED = """
def scaled(x, y):
    n = len(y)
    a = np.empty(n + 1, np.float32)
    for i in range(n + 1):
        a[i] = x[i] * 2
    for i in range(n):
        y[i] = a[i] + a[i + 1]
"""
#: Numbers of the leaves of `scaled`.
PRODUCER, CONSUMER = 2, 3


def told(
    text: str, *values: tuple[str, int, str], consumer: int = CONSUMER, loops: str = "i"
) -> Program:
    """A program whose last leaf stands for the consumer, with expressions that stand for others.

    Args:
        text: the program.
        values: text of an expression, the number of the statement that it stands for, and its
            iteration.
        consumer: the number of the statement that the last leaf stands for.
        loops: its iteration.
    """
    program = program_from(text)
    found = {print_expression(e): e for e in ast.walk(program.function) if isinstance(e, ast.expr)}
    for expression, number, iteration in values:
        at = ast.parse(iteration, mode="eval").body
        nodes.set_origin(found[expression], Origin(number, (at,)))
    statements = leaves(program)
    iteration = (ast.parse(loops, mode="eval").body,)
    nodes.set_origin(statements[-1].node, Origin(consumer, iteration))
    for number, leaf in enumerate(statements[:-1]):
        nodes.set_origin(leaf.node, Origin(number, ()))
    return program


INLINED = """
def scaled(x, y):
    n = len(y)
    for i in range(n):
        y[i] = {first} + {second}
"""


def verdict(first: str, second: str, *values: tuple[str, int, str]) -> object:
    original = with_origins(program_from(SCALED))
    return compare(original, told(INLINED.format(first=first, second=second), *values))


RIGHT = (("x[i] * 2", PRODUCER, "i"), ("x[i + 1] * 2", PRODUCER, "i + 1"))
CAST = ("np.float32(x[i] * 2)", "np.float32(x[i + 1] * 2)")


def test_inlined_values_are_seen_through() -> None:
    assert isinstance(verdict(*CAST, *RIGHT), Proved)


@pytest.mark.parametrize(
    ("first", "second", "values"),
    [
        (*CAST, (RIGHT[0],)),  # nothing is said of the second
        (*CAST, (RIGHT[0], ("x[i + 1] * 2", PRODUCER, "i"))),  # another iteration
        (*CAST, (RIGHT[0], ("x[i + 1] * 2", CONSUMER, "i"))),  # another statement
        (*CAST, (RIGHT[0], ("x[i + 1] * 2", 99, "i"))),  # none
        (*CAST, (RIGHT[0], ("x[i + 1] * 2", PRODUCER, "n + 1"))),  # one that does not run
        (CAST[0], "np.float32(x[i] * 2)", (RIGHT[0],)),  # another cell
        ("x[i] * 2", CAST[1], RIGHT),  # not rounded
        ("np.float64(x[i] * 2)", CAST[1], RIGHT),  # rounded to another type
        ("np.int32(x[i] * 2)", CAST[1], RIGHT),
        ("float(x[i] * 2)", CAST[1], RIGHT),
        ("abs(x[i] * 2)", CAST[1], RIGHT),
        ("np.float32(x[i] * 3)", CAST[1], (("x[i] * 3", PRODUCER, "i"), RIGHT[1])),
        (CAST[1], CAST[0], RIGHT),  # operands change places
    ],
)
def test_what_is_said_of_a_value_is_verified(
    first: str, second: str, values: tuple[tuple[str, int, str], ...]
) -> None:
    assert not isinstance(verdict(first, second, *values), Proved)


def test_a_name_that_hides_the_type_is_no_type() -> None:
    original = with_origins(program_from(SCALED))
    text = INLINED.format(first=CAST[0], second=CAST[1]).replace("n = len(y)", "n = len(y); np = y")
    assert not isinstance(compare(original, told(text, *RIGHT)), Proved)


def test_the_longer_form_does_the_same() -> None:
    new = told(INLINED.format(first=CAST[0], second=CAST[1]), *RIGHT)
    original = [each.node for each in leaves(program_from(SCALED))]
    longer = unfolded(new, original)
    assert longer is not new
    results = []
    for each in (new, longer):
        scope: dict[str, object] = {"np": np}
        exec(compile(module_text(each), "<text>", "exec"), scope)
        y = np.zeros(5)
        scope["scaled"](np.arange(6) / 3, y)
        results.append(y)
    assert (results[0] == results[1]).all()


def test_a_program_without_inlined_values_stays_as_it_is() -> None:
    program = program_from(SCALED)
    assert unfolded(program, []) is program


@pytest.mark.parametrize(
    ("text", "value", "part"),
    [
        (
            "def f(x, y):\n    for i in range(4):\n        if x[i] > 0:\n            y[i] = 1\n",
            "x[i]",
            "decides what runs",
        ),
        (
            "def f(x, y):\n    while x[0] > 0:\n        y[0] = 1\n",
            "x[0] > 0",
            "decides what runs",
        ),
        (
            "def f(x, y):\n    for i in range(int(x[0])):\n        y[i] = 1\n",
            "x[0]",
            "decides what runs",
        ),
        (
            "def f(x, y):\n    for i in range(4):\n        y[i] = np.float32(g(x[i]))\n",
            "g(x[i])",
            "does more than compute",
        ),
    ],
)
def test_values_without_a_statement_of_their_own(text: str, value: str, part: str) -> None:
    program = program_from(text)
    [node] = [
        e
        for e in ast.walk(program.function)
        if isinstance(e, ast.expr) and print_expression(e) == value
    ]
    nodes.set_origin(node, Origin(0, ()))
    with pytest.raises(NotModelled, match=part):
        unfolded(program, [ast.parse("a[i] = 1").body[0]])
