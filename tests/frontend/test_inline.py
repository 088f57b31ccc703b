"""Helpers written out: what is, what stays a call, and that calls do the same."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.frontend.build import as_written, build
from astile.frontend.text import function_of
from tests.support.plain_forms import as_given, grid, kernel, outcome, printed, shown, source

K = 2.5
ABOVE = """
    K = 3

    def square(x):
        return x * x

    def mean(x, y):
        s = x + y
        return s / 2

    def scaled(x, by=K):
        return x * by

    def lap(A, i):
        return A[i - 1] + A[i + 1]

    def put(A, i, value):
        A[i] = value

    def clamp(x, low, high):
        if x < low:
            return low
        if x > high:
            return high
        return x

    def fill(A, value):
        for i in range(len(A)):
            A[i] = value

    def first_or(A, n):
        if n > 0:
            return A[0]
        return 0.0

    def push(A, i):
        A[i] += 1
        return A[i]

    def ends(A):
        return A[0], A[-1]

    def halves(x):
        x /= 2
        return x

    def search(A, x):
        for i in range(len(A)):
            if A[i] == x:
                return i
        return -1

    def either(x, y):
        return x if x > y else y


"""
BECOMES = {
    "expression": ("A[0] = square(n)", "A[0] = n * n"),
    "argument used twice": ("A[0] = square(n + 1)", "x = n + 1\nA[0] = x * x"),
    "argument used once": ("A[0] = scaled(n + 1)", "A[0] = (n + 1) * 3"),
    "keyword": ("A[0] = scaled(by=n, x=2)", "A[0] = 2 * n"),
    "several statements": ("A[0] = mean(n, B[0])", "y = B[0]\ns = n + y\nA[0] = s / 2"),
    "in an expression": ("A[0] += 1 + square(n) * 2", "A[0] += 1 + n * n * 2"),
    "names that are taken": ("s = 1\nA[s] = mean(n, s)", "s = 1\ns_1 = n + s\nA[s] = s_1 / 2"),
    "reads an array": (
        "for k in range(1, n):\n    B[k] = lap(A, k)",
        "for k in range(1, n):\n    B[k] = A[k - 1] + A[k + 1]",
    ),
    "stores": ("put(A, n, 2.0)", "A[n] = 2.0"),
    "loops": ("fill(B, n)", "for i in range(len(B)):\n    B[i] = n"),
    "row": (
        "for k in range(A.shape[0]):\n    fill(A[k], 0.0)",
        "for k in range(A.shape[0]):\n    for i in range(A.shape[1]):\n        A[k, i] = 0.0",
    ),
    "two ways": ("x = first_or(A, n)", "if n > 0:\n    x = A[0]\nelse:\n    x = 0.0"),
    "stores and returns": ("x = push(A, n)", "A[n] += 1\nx = A[n]"),
    "result that nobody wants": ("push(A, n)", "A[n] += 1"),
    "several values": ("a, b = ends(A)\nB[0] = a", "a = A[0]\nb = A[-1]\nB[0] = a"),
    "parameter that is bound again": ("A[0] = halves(n)", "x = n\nx /= 2\nA[0] = x"),
    "under a condition": ("A[0] = square(n) if n else 0", "A[0] = n * n if n else 0"),
    "condition": ("if square(n) > 4:\n    A[0] = 1", "if n * n > 4:\n    A[0] = 1"),
    "else if": (
        "if n > 4:\n    A[0] = 1\nelif mean(n, 2) > 1:\n    A[0] = 2",
        "if n > 4:\n    A[0] = 1\nelse:\n    s = n + 2\n    if s / 2 > 1:\n        A[0] = 2",
    ),
    "calls in calls": ("A[0] = square(square(n))", "x = n * n\nA[0] = x * x"),
    "length of a loop": (
        "for k in range(square(n)):\n    A[k] = 1",
        "for k in range(n * n):\n    A[k] = 1",
    ),
}


@pytest.mark.parametrize("name", BECOMES)
def test_is_written_out(name):
    before, after = BECOMES[name]
    assert shown(before, above=ABOVE) == as_given(after)


STAYS = {
    "numbers and branches": "A[0] = clamp(n, 0.0, 1.0)",
    "return in a loop": "A[0] = search(A, n)",
    "twice under a condition": "A[0] = square(n + 1) if n else 0",
    "second of `and`": "if n and mean(n, 2):\n    A[0] = 1",
    "test of a while": "while mean(n, 2) > 1:\n    n -= 1",
    "stores inside an expression": "x = A[0] + push(A, 0)",
    "stores after the target is read": "A[0] += push(A, 0)",
    "argument that may not be computed": "A[0] = 1 if n else mean(A[n], 2)",
    "row of unknown kind": "k = np.argsort(B)\nfill(A[k], 0)\nA[0, 0] = 1",
}


@pytest.mark.parametrize("name", STAYS)
def test_stays_a_call(name):
    assert shown(STAYS[name], above=ABOVE) == as_given(STAYS[name])


def test_helpers_that_are_gone_are_not_printed():
    text = source("A[0] = square(n)\nA[1] = clamp(n, 0, 1)", above=ABOVE)
    program = build(function_of(text, "f"))
    assert set(program.helpers) == set(program.helper_programs) == {"clamp"}


def test_constants_come_along_under_a_free_name():
    space = {"math": math}

    def scale(x):
        return x * K

    def f(A, n):
        K = 2
        A[0] = scale(n) + K

    program = build(f)
    assert program.constants == {"K_1": 2.5}
    values = grid(1)
    printed(program)(values, 2)
    assert values.tolist() == [7.0]
    assert space


def test_statements_have_the_place_of_the_call():
    text = source("put(A, n, 2.0)", above=ABOVE)
    program = build(function_of(text, "f"))
    (statement,) = program.function.body
    line = next(k for k, each in enumerate(text.splitlines(), 1) if "put(A, n, 2.0)" in each)
    assert program.source.span(statement).line == line


@pytest.mark.parametrize("size", [0, 1, 4])
@pytest.mark.parametrize("name", [*BECOMES, *STAYS])
def test_calls_do_the_same(name, size):
    body = STAYS.get(name) or BECOMES[name][0]
    rows = "shape[1]" in (BECOMES.get(name, ("", ""))[1])
    A = grid(3, size) if rows else grid(9)
    made = kernel(body, above=ABOVE)
    found, wanted = (outcome(each, A, grid(9), size) for each in (made, made.__wrapped__))
    assert found == wanted or (found, wanted) == ("ArgumentError", "IndexError")


argument = st.sampled_from(["n", "A[k]", "2", "-1.5", "A[k] + 1", "square(n)", "B[0]"])
call = st.one_of(
    st.builds(lambda x: f"square({x})", argument),
    st.builds(lambda x, y: f"mean({x}, {y})", argument, argument),
    st.builds(lambda x: f"scaled({x})", argument),
    st.builds(lambda x, y: f"either({x}, {y})", argument, argument),
    st.builds(lambda x: f"clamp({x}, 0, n)", argument),
    st.just("lap(B, k)"),
)
value = st.one_of(
    call,
    st.builds(lambda a, b: f"{a} + {b}", call, argument),
    st.builds(lambda a, b, c: f"{a} if {b} > 1 else {c}", call, call, call),
    st.builds(lambda a, b: f"{a} > 1 and {b} > 0", call, call),
)
line = st.one_of(
    st.builds(lambda v: f"A[k] = {v}", value),
    st.builds(lambda v: f"B[k] += {v}", value),
    st.builds(lambda v: f"put(A, k, {v})", value),
    st.builds(lambda v: f"x = {v}", value),
    st.just("x = push(A, k)"),
    st.just("halves(x)"),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(line, min_size=1, max_size=4))
def test_random_calls_do_the_same(lines):
    body = "x = 0\nfor k in range(1, 5):\n" + "".join(f"    {each}\n" for each in lines)
    text = source(body + "return x", above=ABOVE)
    function = function_of(text, "f")
    one, other = printed(as_written(function)), printed(build(function))
    assert outcome(other, grid(9), -grid(9), 3) == outcome(one, grid(9), -grid(9), 3), text
    assert np.pi
