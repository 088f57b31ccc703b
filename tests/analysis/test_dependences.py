from __future__ import annotations

import pytest

from astile.analysis.proof.dependences import Dependence, dependences, find_uninitialised
from astile.analysis.reading.model import extract
from tests.support.programs import program_from


def found(text: str) -> tuple[Dependence, ...]:
    return dependences(extract(program_from(text)))


def only(text: str, kind: str, array: str) -> Dependence:
    [result] = [each for each in found(text) if (each.kind, each.array) == (kind, array)]
    return result


def test_the_nest_with_distance_plus_one_minus_one():
    text = """
def f(A, n, m):
    for i in range(1, n):
        for j in range(m - 1):
            A[i, j] = A[i - 1, j + 1] + 1
"""
    [each] = found(text)
    assert (each.kind, each.array) == ("flow", "A")
    assert each.distance == (1, -1)
    assert each.directions == {("<", ">")}
    assert [level.variable for level in each.loops] == ["i", "j"]


def test_distances_count_trips_and_not_values():
    text = "def f(A, n):\n    for i in range(n - 3, -1, -2):\n        A[i] = A[i + 2]\n"
    assert only(text, "flow", "A").distance == (1,)


def test_a_distance_that_varies():
    text = "def f(A, B, n):\n    for i in range(n):\n        A[0] = B[i]\n"
    each = only(text, "output", "A")
    assert each.distance == (None,)
    assert each.directions == {("<",)}


def test_an_anti_dependence():
    text = "def f(A, n):\n    for i in range(n - 1):\n        A[i] = A[i + 1]\n"
    assert only(text, "anti", "A").distance == (1,)


def test_statements_of_two_nests_share_no_loops():
    text = """
def f(A, B, n):
    for i in range(n):
        A[i] = 1
    for i in range(n):
        B[i] = A[i]
"""
    each = only(text, "flow", "A")
    assert each.loops == ()
    assert each.distance == ()
    assert (each.first.leaf.number, each.second.leaf.number) == (0, 1)


def test_scalars_carry_dependences_too():
    text = "def f(A, n):\n    for i in range(n):\n        s = A[i]\n        A[i] = s + 1\n"
    assert only(text, "output", "s").directions == {("<",)}
    assert ("=",) in only(text, "flow", "s").directions


def test_independent_iterations_have_none():
    assert found("def f(A, B, n):\n    for i in range(n):\n        A[i] = B[i]\n") == ()


@pytest.mark.parametrize(
    ("body", "reads"),
    [
        ("T = np.empty(n)\n    A[0] = T[1]", [("T", True)]),
        ("T = np.zeros(n)\n    A[0] = T[1]", []),
        ("T = np.empty(n)\n    for i in range(n):\n        T[i] = 1\n    A[0] = T[n - 1]", []),
        (
            "T = np.empty(n)\n    for i in range(1, n):\n        T[i] = 1\n    A[0] = T[0]",
            [("T", True)],
        ),
        (
            "T = np.empty(n)\n    T[1] = 0\n    for i in range(n):\n        A[i] = T[i]",
            [("T", False)],
        ),
        ("for i in range(n):\n        s = A[i]\n    A[0] = s", [("s", False)]),
        ("s = 0.0\n    for i in range(n):\n        s = A[i]\n    A[0] = s", []),
    ],
)
def test_reads_of_what_nobody_wrote(body, reads):
    # a loop, since `np.empty(n)` alone does not tell that n is an integer
    text = f"def f(A, n):\n    for z in range(n):\n        A[z] = 0\n    {body}\n"
    results = find_uninitialised(extract(program_from(text)))
    assert [(each.access.array, each.always) for each in results] == reads
