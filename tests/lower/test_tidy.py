"""Kernels define what they read, once, and are handed what they read."""

from __future__ import annotations

import ast

import pytest

from astile.ir import printer
from astile.lower import cuda
from astile.lower.kernels import tidy
from tests.support.programs import program_from


def tidied(text: str) -> str:
    return printer.print_module(tidy.tidied(ast.parse(text).body, "cuda")).strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i = u(cuda.laneid)\ni = u(cuda.laneid)\nx[i] = 0", "i = u(cuda.laneid)\nx[i] = 0"),
        ("i = u(cuda.laneid)\nx[0] = 0", "x[0] = 0"),
        (
            "i = u(cuda.laneid)\nx[i] = 0\nif n > 0:\n    i = u(cuda.laneid)\n    x[i] = 1",
            "i = u(cuda.laneid)\nx[i] = 0\nif n > 0:\n    x[i] = 1",
        ),
    ],
)
def test_a_name_is_defined_once_where_it_is_read(text: str, expected: str) -> None:
    assert tidied(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "i = u(cuda.laneid)\nfor i in range(2):\n    x[i] += 1\ni = u(cuda.laneid)\nx[i] = 2",
        "i = u(cuda.laneid)\nx[i] = 0\ni = u(cuda.threadIdx.x)\nx[i] = 2",
        "i = u(cuda.laneid) + n\nx[i] = 0\nn = 3\ni = u(cuda.laneid) + n\nx[i] = 2",
        "if n > 0:\n    i = u(cuda.laneid)\n    x[i] = 0\ni = u(cuda.laneid)\nx[i] = 1",
        "for k in range(2):\n    i = u(cuda.laneid)\n    x[i] = 0\n    i = k\n    x[i] = 1",
        "i = u(cuda.laneid)\ni += 1",
    ],
)
def test_what_a_name_held_before_is_not_taken_for_what_it_holds(text: str) -> None:
    assert tidied(text) == text


def test_one_condition_stands_for_those_that_ask_the_same() -> None:
    text = "if t == 0:\n    x[0] = 1\nif t == 0:\n    x[1] = 2"
    assert tidied(text) == "if t == 0:\n    x[0] = 1\n    x[1] = 2"


@pytest.mark.parametrize(
    "text",
    [
        "if t == 0:\n    t = 1\nif t == 0:\n    x[1] = 2",
        "if x[0] == 0:\n    x[0] = 1\nif x[0] == 0:\n    x[1] = 2",
        "if t == 0:\n    x[0] = 1\nelse:\n    x[2] = 1\nif t == 0:\n    x[1] = 2",
    ],
)
def test_a_condition_that_may_have_changed_is_asked_again(text: str) -> None:
    assert tidied(text) == text


def test_a_kernel_is_handed_what_it_reads_alone() -> None:
    text = """
def scale(x):
    n, m = x.shape
    for b in block.x(n):
        for j in range(m):
            x[b, j] *= 2
"""
    lowered = cuda.lower(program_from(text))
    assert "def scale_kernel(x, m):" in lowered.text
    assert "scale_kernel[n, 1](x, m)" in lowered.text


def test_conditions_of_chains_need_no_parentheses() -> None:
    text = """
def inner(x, n):
    for b in block.x(n):
        for i in thread.x(8):
            if 1 <= b * 8 + i < x.shape[0] and n > 3:
                x[b * 8 + i] = 1
"""
    assert "and (" not in cuda.lower(program_from(text)).text.replace("(\n", "")
