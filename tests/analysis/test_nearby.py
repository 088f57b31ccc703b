"""Sources of reads that are known from the text: which are found, and that isl agrees."""

from __future__ import annotations

import pytest

from astile.analysis import isl
from astile.analysis.proof.flows import dependences_of
from astile.analysis.reading.model import extract
from astile.ir.printer import print_expression
from tests.support.programs import program_from


def near(body: str) -> set[tuple[int, str, int]]:
    """(number of the writing statement, what is read, number of the reading one), each once.

    That the whole flow is the same as isl's alone is checked on the way.
    """
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    model = extract(program_from(f"def f(A, B, x, n, m):\n{lines}\n"))
    whole = isl.flow(model.sinks, model.sources, model.schedule)
    found = dependences_of(model)
    assert found.must.is_equal(whole.get_must_dependence())
    assert found.without.is_equal(whole.get_must_no_source())
    return {
        (each.writer, print_expression(each.read.node), each.reader)
        for each in model.near
        if each.read.node is not None and each.read.array in ("A", "s")
    }


def test_a_read_right_after_its_write():
    assert near("for i in range(n):\n    A[i] = x[i]\n    B[i] = A[i]") == {(0, "A[i]", 1)}


def test_indices_are_compared_by_value():
    body = "for i in range(n):\n    A[i + 1] = x[i]\n    B[i] = A[1 + i]"
    assert near(body) == {(0, "A[1 + i]", 1)}


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(n):\n    B[i] = A[i]\n    A[i] = x[i]",
        "for i in range(1, n):\n    A[i] = x[i]\n    B[i] = A[i - 1]",
        "for i in range(n):\n    A[i] = x[i]\nfor i in range(n):\n    B[i] = A[i]",
        "for i in range(n):\n    for j in range(m):\n        A[i] = x[j]\n    B[i] = A[i]",
    ],
    ids=["before", "another cell", "another loop", "from a deeper loop"],
)
def test_reads_of_what_comes_from_elsewhere(body):
    assert near(body) == set()


def test_a_write_in_between():
    body = "for i in range(n):\n    A[i] = x[i]\n    A[{0}] = 1.0\n    B[i] = A[i]"
    assert near(body.format("n - 1 - i")) == set()
    assert near(body.format("i")) == {(1, "A[i]", 2)}


def test_an_update_is_a_read_and_a_write():
    body = "for i in range(n):\n    A[i] = x[i]\n    A[i] += 1.0\n    B[i] = A[i]"
    assert near(body) == {(0, "A[i]", 1), (1, "A[i]", 2)}


@pytest.mark.parametrize("condition", ["i > 2", "x[i] > 0"])
def test_conditions(condition):
    one = f"for i in range(n):\n    if {condition}:\n        A[i] = x[i]\n    B[i] = A[i]"
    assert all(reader != 0 for _, _, reader in near(one))
    both = f"for i in range(n):\n    if {condition}:\n        A[i] = x[i]\n        B[i] = A[i]"
    near(both)


def test_a_static_condition_around_the_read_alone_or_around_both():
    inside = "for i in range(n):\n    A[i] = x[i]\n    if i > 2:\n        B[i] = A[i]"
    assert near(inside) == {(0, "A[i]", 1)}
    both = "for i in range(n):\n    if i > 2:\n        A[i] = x[i]\n        B[i] = A[i]"
    assert near(both) == {(0, "A[i]", 1)}
    other = "for i in range(n):\n    if i > 2:\n        A[i] = x[i]\n    else:\n        B[i] = A[i]"
    assert near(other) == set()


def test_a_reader_in_a_deeper_loop():
    body = "for i in range(n):\n    A[i] = x[i]\n    for j in range(m):\n        B[j] = A[i]"
    assert near(body) == {(0, "A[i]", 1)}


def test_a_deeper_loop_that_writes_the_array_too():
    body = "for i in range(n):\n    A[i] = x[i]\n    for j in range(m):\n        B[j] = A[i]\n"
    assert near(f"{body}        A[j] = 1.0") == set()
    deeper = f"{body}        for k in range(m):\n            A[k] = 1.0"
    assert near(deeper) == set()


def test_a_loop_beside_that_writes_the_array():
    body = (
        "for i in range(n):\n    A[i] = x[i]\n    for j in range(m):\n        A[j] = 1.0\n"
        "    B[i] = A[i]"
    )
    assert near(body) == set()


def test_scalars():
    assert near("for i in range(n):\n    s = x[i]\n    B[i] = s") == {(0, "s", 1)}
    carried = "s = 0.0\nfor i in range(n):\n    B[i] = s\n    s = x[i]"
    assert near(carried) == set()


def test_another_array_of_the_same_name():
    body = (
        "for i in range(n):\n    s = np.empty(3)\n    s[0] = x[i]\n    B[i] = s[0]\n"
        "    s = np.empty(4)\n    B[i] += s[0]"
    )
    found = near(body)
    assert all(reader <= 3 for _, _, reader in found)
