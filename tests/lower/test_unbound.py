"""What is read before it is set raises on the CPU as in Python, and is refused on a GPU."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile import Kernel
from astile.errors import LoweringError
from astile.lower import cpu, unbound
from tests.support.scheduled import program


def names(text: str) -> list[str]:
    return [each.name for each in unbound.readings(program(text))]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("for i in range(n):\n        x[i] = 1\n    x[0] = i", ["i"]),
        ("for i in range(4):\n        t = x[i]\n    x[0] = t + i", []),
        ("i = 0\n    for i in range(n):\n        x[i] = 1\n    x[0] = i", []),
        ("if n > 1:\n        t = 1\n    x[0] = t", ["t"]),
        ("if n > 1:\n        t = 1\n    else:\n        t = 2\n    x[0] = t", []),
        ("if n > 1:\n        t = 1\n    else:\n        return\n    x[0] = t", []),
        ("for i in range(4):\n        if x[i] > 0:\n            break\n    x[0] = i", []),
        (
            "for i in range(4):\n        if i > n:\n            break\n        t = 1\n    x[0] = t",
            ["t"],
        ),
        ("for i in range(n):\n        for j in range(n):\n            t = 1\n        x[i] = t", []),
        ("while n > 0:\n        t = n\n        n = n - 1\n    x[0] = t", ["t"]),
        ("for i in range(n):\n        t += 1", ["t"]),
    ],
)
def test_what_may_be_read_before_it_is_set(body: str, found: list[str]) -> None:
    assert names(f"def f(x, n):\n    {body}") == found


def last_index(x, out):
    for i in range(len(x)):
        out[i] = x[i]
    out[0] = i


def last_large(x, out):
    for i in range(len(x)):
        if x[i] > 2:
            t = x[i]
    out[0] = t


def outcome(kernel: Callable[..., object], size: int) -> object:
    out = np.zeros(6)
    try:
        kernel(np.arange(float(size)), out)
    except UnboundLocalError as error:
        return str(error)
    return out.tolist()


def never_set(x, out):
    for i in range(len(x)):
        if x[i] > 2:
            for j in range(i):
                t += x[j]  # noqa: F821
            out[i] = t
        else:
            out[i] = 1


@pytest.mark.parametrize("function", [last_index, last_large, never_set])
def test_the_cpu_raises_where_python_raises(function: Callable[..., object]) -> None:
    kernel = Kernel(function, target="cpu")
    for size in (0, 1, 5):
        assert outcome(kernel, size) == outcome(function, size)


@pytest.mark.parametrize("function", [last_index, last_large])
def test_a_gpu_cannot_raise(function: Callable[..., object]) -> None:
    with pytest.raises(LoweringError, match="may be read before it is set"):
        outcome(Kernel(function, target="emulate"), 5)


def test_a_read_behind_a_condition_is_refused() -> None:
    text = "def f(x, n):\n    if n > 1:\n        t = 1\n    if n > 1 and t > 0:\n        x[0] = t"
    with pytest.raises(LoweringError, match="t may be read before it is set"):
        cpu.lower(program(text))


def test_nothing_is_added_where_names_are_set() -> None:
    text = cpu.lower(program("def f(x):\n    t = 1\n    for i in range(len(x)):\n        x[i] = t"))
    assert "is_set" not in text.text
