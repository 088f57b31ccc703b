"""A new program may leave no array that the original does not leave."""

from __future__ import annotations

import pytest

from tests.analysis.test_equivalence import kind

PRODUCER = """
def f(x, out, n):
    s = 2.0
    a = np.empty(n, np.float64)
    for i in range(n):
        a[i] = {}
    for i in range(n):
        out[i] = a[i]
"""
TILED = """
def f(x, out, n):
    s = 2.0  # 0:
    for i_0 in range((n + 3) // 4):
        TILE = local.empty(4, np.float64)
        for p in range({}):
            if i_0 * 4 + p < n:
                TILE[p] = {}  # 2: i_0 * 4 + p
        for p in range(4):
            if i_0 * 4 + p < n:
                out[i_0 * 4 + p] = TILE[p]  # 3: i_0 * 4 + p
"""


@pytest.mark.parametrize("tile", ["a", "t"])
@pytest.mark.parametrize("value", ["s * x[{}]", "x[{}]", "x[{}] + 1"])
def test_more_is_computed_than_the_tile_holds(value, tile):
    original = PRODUCER.format(value.format("i"))
    new = TILED.replace("TILE", tile)
    inside = value.format("i_0 * 4 + p")
    assert kind(original, new.format(4, inside)) == "equal"
    assert kind(original, new.format(5, inside)) == "unknown"


@pytest.mark.parametrize("hint", ["", "  # 0:"])
@pytest.mark.parametrize(
    ("extent", "index"), [("n", "i + 1"), ("n", "i + n"), ("n", "n"), ("n - 1", "i")]
)
def test_zeros_are_read_outside_of_their_array(extent, index, hint):
    text = """
def f(out, n):
    a = np.zeros({}){}
    for i in range(n):
        out[i] = a[{}]{}
"""
    original = text.format("n", "", "i", "")
    assert kind(original, text.format("n", hint, "i", "  # 1: i")) == "equal"
    assert kind(original, text.format(extent, hint, index, "  # 1: i")) in ("unknown", "statement")


def test_what_the_original_may_not_reach_says_nothing_of_sizes():
    original = """
def f(A, B, C, n):
    for i in range(n):
        if C[i] > 0:
            B[i] = A[i + 1]
"""
    new = """
def f(A, B, C, n):
    for i in range(n):
        t = local.empty(1, A.dtype)
        t[0] = A[i + 1]
        if C[i] > 0:  # 0: i
            B[i] = t[0]
"""
    assert kind(original, new) == "unknown"
    reached = original.replace("        if C", "        C[i] = A[i + 1]\n        if C")
    new = new.replace("        t = ", "        C[i] = A[i + 1]  # 0: i\n        t = ")
    assert kind(reached, new.replace("> 0:  # 0", "> 0:  # 1")) == "equal"


def test_an_index_written_otherwise_is_of_the_same_cell():
    """That the original stays inside is known of the cell, also where data decide who reads it."""
    original = """
def f(A, B, C, n):
    for i in range(n):
        B[i] = A[i // 2] if C[i] > 0 else 0.0
"""
    new = """
def f(A, B, C, n):
    for p in range((n + 1) // 2):
        for q in range(2):
            if p * 2 + q < n:
                B[p * 2 + q] = A[{index}] if C[p * 2 + q] > 0 else 0.0  # 0: p * 2 + q
"""
    assert kind(original, new.format(index="p")) == "equal"
    assert kind(original, new.format(index="p + q")) != "equal"


@pytest.mark.parametrize(
    ("length", "found"),
    [("n + 3", "equal"), ("3", "equal"), ("k[0]", "unknown"), ("n * n", "unknown")],
)
def test_an_array_whose_length_is_not_known_stays(length, found):
    original = f"""
def f(x, y, k, n):
    t = np.empty({length}, np.float64)
    for i in range(n):
        t[i] = x[i]
    for i in range(n):
        y[i] = t[i]
"""
    new = """
def f(x, y, k, n):
    for i in range(n):
        s = local.empty(1, np.float64)
        s[0] = x[i]  # 1: i
        y[i] = s[0]  # 2: i
"""
    assert kind(original, new) == found
