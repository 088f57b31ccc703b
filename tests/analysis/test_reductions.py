"""Which statements are updates of a reduction, whose order may change, and which are not."""

from __future__ import annotations

import pytest

from tests.analysis.test_equivalence import kind

TEXT = """
def f(A, B, n):
    s = 0.0{}
    t = 0.0{}
    for i in range({}):
        {}
    B[0] = s{}
"""


def backwards(update: str, trips: str = "n - 1, -1, -1") -> str:
    """What is found of a program whose loop over an update runs backwards."""
    head, colon, rest = update.partition(":")
    hinted = f"{head}:  # 2: i{rest}" if colon else f"{update}  # 2: i"
    original = TEXT.format("", "", "n", update, "")
    return kind(original, TEXT.format("  # 0:", "  # 1:", trips, hinted, "  # 3:"))


@pytest.mark.parametrize(
    "update",
    [
        "s = A[i] + s",
        "s = A[i] + s - B[i]",
        "s = A[i] + (B[i] + s)",
        "s = A[i] * s * B[i]",
        "s = min(s, A[i], B[i])",
        "if A[i] > 3.0:\n            s += A[i]",
        "if A[i] > s:\n            s = A[i]",
        "if s <= A[i]:\n            s = A[i]",
    ],
)
def test_updates_come_in_any_order(update):
    assert backwards(update) == "equal up to reassociation"


@pytest.mark.parametrize(
    "update",
    [
        "s = s * 2.0 + A[i]",
        "s = (A[i] + 1) * s + B[i]",
        "s = s // 2 + A[i]",
        "s = A[i] - s",
        "s = A[i] / s",
        "s = s + s",
        "s = s + A[i] * s",
        "s = t + A[i]",
        "s /= A[i]",
        "s **= A[i]",
        "s = max(A[i], t)",
        "s = max(s, s + A[i])",
        "if s > 3.0:\n            s += A[i]",
        "if A[i] > s:\n            s = B[i]",
        "if A[i] > t:\n            s = A[i]",
        "if A[i] >= s + 1:\n            s = A[i]",
        "if A[i] == s:\n            s = A[i]",
        "if A[i] > s:\n            s = A[i]\n        else:\n            s = B[i]",
    ],
)
def test_what_is_no_update_keeps_its_order(update):
    assert backwards(update, "n") == "equal"
    assert backwards(update) not in ("equal", "equal up to reassociation")


APART = """
def f(A, B, n):
    s = 0.0{}
    for i in range({}):
        s += A[i]{}
    for k in range(n):
        B[k] = 0{}
    {}
    B[0] = s{}
"""
IN_ORDER = """for i in range(n):
        for k in range(n):
            B[k] += A[i]"""
IN_PARTS = """for c in range((n + 3) // 4):
        for k in range(n):
            part = local.empty(2, B.dtype)
            part[0] = B[k]
            for j in range(4):
                if c * 4 + j < n:
                    part[0] += A[c * 4 + j]  # 3: c * 4 + j, k
            B[k] = part[0]"""


def test_sums_in_order_may_pass_through_copies_beside_one_out_of_order():
    original = APART.format("", "n", "", "", IN_ORDER, "")
    hints = ("  # 1: i", "  # 2: k")
    forms = {"n": "equal", "n - 1, -1, -1": "equal up to reassociation"}
    for trips, found in forms.items():
        new = APART.format("  # 0:", trips, *hints, IN_PARTS, "  # 4:")
        assert kind(original, new) == found
        assert kind(original, new.replace("= part[0]", "= part[1]")) not in forms.values()
