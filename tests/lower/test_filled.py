"""New tiles that are filled with one number are filled whole."""

from __future__ import annotations

import pytest

from tests.lower.test_explicit_vectors import lowered

TYPES = {"x": "float32", "y": "float32", "n": "int", "m": "int"}
TILE = """
    def f(x, y, n, m):
        tile = local.empty((2, 16), np.float32)
        for i in unroll(2):
            if i < n:
                for j in vector(16):
                    tile[i, j] = 0
        for k in range(m):
            for i in unroll(2):
                if i < n:
                    for j in vector(16):
                        tile[i, j] += x[k, j]
        for i in unroll(2):
            if i < n:
                for j in vector(16):
                    y[i, j] = tile[i, j]
    """


def text_of(text: str) -> str:
    return lowered(text, TYPES, width=64)


def test_rows_are_filled_without_a_condition() -> None:
    before, _, after = text_of(TILE).partition("for k in")
    assert "if " not in before
    assert before.count("splat(") == 2
    assert after.count("if ") == 4


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tile[i, j] = 0", "tile[i, j] = i"),  # other numbers
        ("tile[i, j] = 0", "tile[i, j] = x[0, j]"),
        ("        for i in unroll(2):", "        tile[0, 0] = 1\n        for i in unroll(2):"),
        ("local.empty", "local.zeros"),
        ("tile[i, j] = 0", "tile[i + n, j] = 0"),
        ("if i < n:", "if i < n // m:"),  # may raise
    ],
)
def test_conditions_stay_where_a_cell_may_hold_something_else(old: str, new: str) -> None:
    assert old in TILE
    assert "if " in text_of(TILE.replace(old, new, 1)).partition("for k in")[0]
