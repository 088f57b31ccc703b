from __future__ import annotations

import ast

import pytest

from astile.analysis.extents import footprint
from astile.analysis.forms import affine, intervals
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.intervals import Range
from astile.ir.printer import print_expression


def body(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def at_most(one: Affine, other: Affine) -> bool:
    tiles = [Range(each, affine.constant(0), affine.constant(9)) for each in "tc"]
    return intervals.is_nonnegative(other - one, tiles)


def sides(text: str, array: str = "a", hidden: str = "") -> list[str | None]:
    found = footprint.box(
        footprint.accesses_inside(body(text), array), at_most, set(hidden.split())
    )
    return [
        None
        if each is None
        else f"{print_expression(each.first.expression())} .. "
        f"{print_expression(each.last.expression())}"
        for each in found
    ]


# --- boxes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y[0] = a[i]", ["i .. i"]),
        ("y[0] = a[i] + a[i + 1]", ["i .. i + 1"]),
        ("y[0] = a[i + 2] - a[i - 1, 0]", ["i - 1 .. i + 2"]),
        ("for k in range(16):\n    y[k] = a[t * 16 + k]", ["t * 16 .. t * 16 + 15"]),
        (
            "for k in range(16):\n    y[k] = a[t * 16 + k] + a[t * 16 + k + 2]",
            ["t * 16 .. t * 16 + 17"],
        ),
        (
            "for k in range(8):\n    y[k] = max(a[2 * (t * 8 + k)], a[2 * (t * 8 + k) + 1])",
            ["t * 16 .. t * 16 + 15"],
        ),
        ("for k in range(4):\n    y[k] = a[n - 1 - k]", ["n - 4 .. n - 1"]),
        ("for k in range(0, 16, 4):\n    y[k] = a[k]", ["0 .. 12"]),
        ("for k in range(9, -1, -3):\n    y[k] = a[k]", ["0 .. 9"]),
        ("for k in range(4):\n    y[k] = a[k // 2, k % 3]", ["0 .. 1", "0 .. 2"]),
        (
            "for r in range(3):\n    for k in range(8):\n        y[k] += a[t + k + r, r]",
            ["t .. t + 9", "0 .. 2"],
        ),
        (
            "for k in range(16):\n    y[k] = a[max(c * 16 + k - 2, 0)] + a[c * 16 + k + 2]",
            ["c * 16 - 2 .. c * 16 + 17"],
        ),
        ("a[i, j] += 1", ["i .. i", "j .. j"]),
        ("if a[3] > 0:\n    y[0] = a[5]", ["3 .. 5"]),
        ("for k in range(a[2]):\n    y[k] = a[1]", ["1 .. 2"]),
        ("y[a[i]] = 0", ["i .. i"]),
        ("a[i][j] = 0", ["i .. i", "j .. j"]),
    ],
)
def test_boxes(text: str, expected: list[str]) -> None:
    assert sides(text, hidden="k r") == expected


@pytest.mark.parametrize(
    "text",
    [
        "y[0] = a[0:3]",
        "y[0] = a[i] + a[j]",
        "for k in range(3):\n    y[k] = a[p[k]]",
        "for k in x:\n    y[0] = a[k]",
        "for k in range(0, n, m):\n    y[0] = a[k]",
        "while k > 0:\n    y[0] = a[k]\n    k = k - 1",
        "k = 5\nwhile k > 0:\n    y[0] = a[k]\n    k = k - 1",
        "k = 5\nfor j in range(3):\n    y[0] = a[k]\n    k = k + 1",
        "k = t\nif n > 3:\n    k = t + 9\ny[0] = a[k]",
        "k = p[t]\ny[0] = a[k]",
    ],
)
def test_sides_that_are_not_known(text: str) -> None:
    assert sides(text, hidden="k") == [None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k = t + 1\nr = k + 1\ny[0] = a[k] + a[r]", "t + 1 .. t + 2"),
        ("k = 0\nk = t\ny[0] = a[k]", "t .. t"),
        ("for r in range(9):\n    k = 3\n    y[0] = a[k]", "3 .. 3"),
        ("k = 2\nfor r in range(k, k + 3):\n    y[0] = a[r]", "2 .. 4"),
        ("k = max(t - 1, 0)\ny[0] = a[k] + a[t - 1]", "t - 1 .. max(t - 1, 0)"),
        ("k = t - 1 if t > 0 else 0\ny[0] = a[k]", "max(t - 1, 0) .. max(t - 1, 0)"),
        ("k = t - 1\nif k < 0:\n    k = 0\ny[0] = a[k]", "max(0, t - 1) .. max(0, t - 1)"),
        ("y[0] = a[t + 1 if t + 1 < n else n - 1]", "min(t + 1, n - 1) .. min(t + 1, n - 1)"),
    ],
)
def test_names_that_are_given_a_value_and_clamps(text: str, expected: str) -> None:
    assert sides(text, hidden="k r") == [expected]


def test_no_access_has_no_box() -> None:
    assert sides("y[0] = 1") == []


# --- accesses -----------------------------------------------------------------------------------


def test_updates_are_read_and_written() -> None:
    plain, update, read = footprint.accesses_inside(body("a[0] = 1\na[1] += 1\ny[0] = a[2]"), "a")
    assert (plain.is_read, plain.is_written) == (False, True)
    assert (update.is_read, update.is_written) == (True, True)
    assert (read.is_read, read.is_written) == (True, False)


def test_indices_of_an_update_are_reads() -> None:
    found = footprint.accesses_inside(body("y[a[i]] += 1"), "a")
    assert [(each.is_read, each.is_written) for each in found] == [(True, False)]


def test_the_loops_between() -> None:
    text = "for i in range(3):\n    if i > 0:\n        for j in range(i):\n            y[0] = a[j]"
    [access] = footprint.accesses_inside(body(text), "a")
    assert [each.variable for each in access.inner] == ["i", "j"]
