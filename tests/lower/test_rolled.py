"""Sums of several summands an iteration stay one loop in the text; LLVM writes out iterations."""

from __future__ import annotations

import re

import numpy as np
import pytest

from astile import Schedule
from tests.lower.test_explicit_vectors import lowered

numba = pytest.importorskip("numba")

TYPES = {"a": "float32", "b": "float32", "c": "float32", "n": "int"}
PRODUCT = """
    def f(a, b, c, n):
        for i in range(n):
            tile = local.empty(16, np.float32)
            for j in vector(16):
                tile[j] = 0
            for k_0 in range(n // 4):
                for k_1 in unroll(4):
                    for j in vector(16):
                        tile[j] += a[i, k_0 * 4 + k_1] * b[k_0 * 4 + k_1, j]
            for k in range(n // 4 * 4, n):
                for j in vector(16):
                    tile[j] += a[i, k] * b[k, j]
            for j in vector(16):
                c[i, j] = tile[j]
    """


def text_of(text: str) -> str:
    return lowered(text, TYPES, width=64)


def test_groups_and_what_is_left_are_one_loop() -> None:
    text = text_of(PRODUCT)
    assert text.count("fma(") == 1
    assert re.findall(r"for k.* in .*:", text) == ["for k in range(n):"]
    assert text.count("unrolled(4)") == 1


def test_groups_alone() -> None:
    text = text_of(PRODUCT.replace("a[i, k] * b[k, j]", "a[i, k] * b[k, j] * 2"))
    loops = re.findall(r"for k.* in .*:", text)
    assert [each.partition(" in ")[2] for each in loops] == [
        "range(n // 4 * 4):",
        "range(n // 4 * 4, n):",
    ]
    assert text.count("unrolled(4)") == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("b[k_0 * 4 + k_1, j]", "b[k_0 * 4 + k_1 + 1, j]"),  # further along
        ("b[k_0 * 4 + k_1, j]", "b[k_0 * 4 + k_1, j] * b[k_0 * 4 + k_1 + 1, j]"),  # shared
        ("b[k_0 * 4 + k_1, j]", "b[k_0 * 4, j]"),
        ("b[k_0 * 4 + k_1, j]", "b[k_0 + k_1 * 4, j]"),
        ("b[k_0 * 4 + k_1, j]", "b[k_0 * 4 + k_1, j] * k_1"),
        ("tile[j] += a[i, k_0 * 4 + k_1]", "c[k_0 * 4 + k_1, j] = a[i, k_0 * 4 + k_1]"),
        ("for k_0 in range(n // 4)", "for k_0 in range(1, n // 4)"),
        ("                for k_1 in unroll(4)", "                for k_1 in range(4)"),
    ],
)
def test_iterations_that_share_more_are_written_out_in_the_text(old: str, new: str) -> None:
    assert old in PRODUCT
    assert "unrolled(" not in text_of(PRODUCT.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("for i in range(n)", "for i in range(2)"),  # n may be -1: what is left begins at -4
        ("n // 4 * 4, n)", "n // 4 * 4, n - 4)"),  # before the end of the groups
        ("n // 4 * 4, n)", "n // 4 * 4, m)"),
        ("c[i, j] = tile[j]", "c[i, j] = tile[j] + k"),  # is the last one, if any is left
    ],
)
def test_what_is_left_is_a_loop_of_its_own_where_it_may_not_go_on(old: str, new: str) -> None:
    changed = PRODUCT.replace(old, new, 1).replace(
        "            tile =", "            k = 9; tile ="
    )
    text = lowered(changed.replace("c, n)", "c, n, m)"), {**TYPES, "m": "int"}, width=64)
    assert len(re.findall(r"for k.* in .*:", text)) == 2


def test_sums_inside_of_loops_that_are_written_out_are_as_well() -> None:
    text = text_of(PRODUCT.replace("for i in range(n)", "for i in unroll(2)"))
    assert "unrolled(" not in text
    assert text.count("fma(") == 2 * 4


def product(a, b, c):
    n, m = c.shape
    for i in range(n):
        for j in range(m):
            c[i, j] = 0
            for k in range(b.shape[0]):
                c[i, j] += a[i, k] * b[k, j]


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 8, 11])
def test_values_at_awkward_sizes(size: int) -> None:
    s = Schedule(product)
    s.split("j", [None, 32])
    s.reorder("i", "j_0", "k", "j_1")
    s.cache_write("c", "local", at="j_0")
    for each in s.loops():
        if each.var in ("j_1", "c_1"):
            s.vectorize(each)
    s.unroll("k", 4)
    kernel = s.build("cpu")
    random = np.random.default_rng(size)
    a = random.integers(-8, 8, (3, size)).astype(np.float32)
    b = random.integers(-8, 8, (size, 37)).astype(np.float32)
    c = np.full((3, 37), -1, np.float32)
    kernel(a, b, c)
    assert np.array_equal(c, a @ b)
