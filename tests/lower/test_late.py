"""Loops that are noted so store each vector after the reads of the two that follow."""

from __future__ import annotations

import re

import numpy as np
import pytest

from astile import Schedule
from astile.kernel import Kernel
from astile.lower import cpu
from astile.lower.vectors.explicit import Machine

F32 = {"a": "float32", "b": "float32", "c": "float32", "n": "int"}


def neighbours(a, b):
    n, m = a.shape
    for i in range(n):
        for j in range(1, m - 1):
            b[i, j] = a[i, j - 1] + a[i, j + 1]


def two_results(a, b, c):
    n, m = a.shape
    for i in range(n):
        for j in range(1, m - 1):
            d = a[i, j + 1] - a[i, j - 1]
            b[i, j] = d * d
            c[i, j] = d + a[i, j]


def in_place(a, b):
    n, m = a.shape
    for i in range(n):
        for j in range(1, m - 1):
            b[i, j] = b[i, j] * 2 + a[i, j]


def some(a, b):
    n, m = a.shape
    for i in range(n):
        for j in range(1, m - 1):
            if a[i, j] > 0:
                b[i, j] = a[i, j - 1]


def known(a, b):
    for j in range(1, 100):
        b[j] = a[j - 1] + a[j]


def vectors(s: Schedule) -> None:
    s.vectorize("j")


def late_vectors(s: Schedule) -> None:
    s.annotate("j", "store", "late")
    s.vectorize("j")


def scheduled(function, steps=late_vectors) -> Schedule:
    s = Schedule(function)
    steps(s)
    return s


def text_of(s: Schedule, width: int = 64) -> str:
    return cpu.lower(s.program, types=F32, machine=Machine(width)).text


def test_the_text(golden) -> None:
    golden("lower/late_cpu.py", text_of(scheduled(neighbours)))


def test_a_loop_of_known_length_needs_no_guard() -> None:
    text = text_of(scheduled(known))
    assert "else:" not in text
    assert re.findall(r"range\(.*\)", text) == ["range(33, 97, 16)"]


@pytest.mark.parametrize("function", [in_place, some])
def test_stores_that_cannot_wait_do_not(function) -> None:
    assert text_of(scheduled(function)) == text_of(scheduled(function, vectors))


@pytest.mark.parametrize("function", [neighbours, two_results, in_place, some])
def test_its_values(function) -> None:
    pytest.importorskip("numba")
    late, plain = (
        Kernel(function, schedule=each, target="cpu") for each in (late_vectors, vectors)
    )
    for m in [0, 1, 2, 3, 9, 17, 18, 19, 33, 34, 35, 49, 50, 51, 65, 66, 67, 130]:
        a = np.random.default_rng(m).standard_normal((3, m), np.float32)
        results = [np.full((2, 3, m), 7, np.float32) for _ in range(3)]
        count = 2 if function is two_results else 1
        for run, each in zip((late, plain, function), results, strict=True):
            run(a, *each[:count])
        np.testing.assert_array_equal(results[0], results[1])
        np.testing.assert_allclose(results[0], results[2], rtol=1e-6)


def test_rows_side_by_side_wait_together() -> None:
    s = scheduled(neighbours, lambda s: s.annotate("j", "store", "late"))
    i = s.split("i", [None, 2])[-1]
    s.reorder("j", i)
    s.specialize("i_0 * 2 + 2 <= n", "j")
    s.unroll(i)
    s.vectorize("j#0")
    (loop,) = re.findall(r"for j in range\(33.*?b_older = ", text_of(s), re.DOTALL)
    assert re.findall(r"\w+ =|store", loop) == [
        "b_new =",
        "b_new_1 =",
        "store",
        "store",
        "b_older =",
    ]
