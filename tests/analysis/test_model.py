from __future__ import annotations

import math

import pytest

from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.model import Model, extract
from tests.support.programs import program_from


def model(text: str, **fields: object) -> Model:
    return extract(program_from(text, **fields))  # type: ignore[arg-type]


def cells(found: Model, number: int) -> list[tuple[str, str]]:
    """Slot and array of each read and write of a statement."""
    statement = found.statements[number]
    return [(each.slot, each.array) for each in (*statement.reads, *statement.writes)]


def test_reads_by_position_and_writes():
    found = model("def f(A, B, n):\n    for i in range(n):\n        A[i] += B[i] * B[i + 1]\n")
    assert cells(found, 0) == [("r0", "A"), ("r1", "B"), ("r2", "B"), ("w0", "A")]
    assert found.observed == ("A", "<effects>", "<return>")


def test_an_annotated_value_is_read_and_written():
    found = model("def f(A):\n    s: float = A[0] + A[1]\n    A[2] = s\n")
    assert cells(found, 0) == [("r0", "A"), ("r1", "A"), ("w0", "s")]
    assert found.statements[0].accesses.is_exact


def test_a_write_under_a_condition_reads_what_it_keeps():
    found = model(
        "def f(A, B, n):\n    for i in range(n):\n        if B[i] > 0:\n            A[i] = 1\n"
    )
    assert cells(found, 0) == [("r0", "B"), ("o0", "A"), ("w0", "A")]


def test_a_cell_written_both_ways_keeps_nothing():
    text = """
def f(A, B, n):
    for i in range(n):
        if B[i] > 0:
            A[i] = 1
        else:
            t = B[i]
            A[i] = t
"""
    assert cells(model(text), 0) == [("r0", "B"), ("r1", "B"), ("w0", "A")]


def test_a_call_that_may_change_an_array_leaves_no_cell_of_it_certain():
    text = "def f(A):\n    if A[1] > 0:\n        {}A[0] = 1\n    else:\n        A[0] = 2\n"
    sure = model(text.format("")).statements[0]
    assert [each.slot for each in sure.reads] == ["r0"]
    changed = model(text.format("print(A)\n        ")).statements[0]
    assert {each.array for each in changed.reads if each.slot[0] == "o"} == {"A"}
    assert not all(each.is_exact for each in changed.writes)


def test_scalars_of_one_compound_statement_are_its_own():
    own = """
def f(A, n):
    for i in range(n):
        if A[i] > 0:
            t = A[i]
            A[i] = t
"""
    assert {each.array for each in model(own).statements[0].writes} == {"A"}
    read = own + "        A[0] = t\n"
    assert {each.array for each in model(read).statements[0].writes} == {"A", "t"}
    kept = [e.array for e in model(read).statements[0].reads if e.slot[0] == "o"]
    assert "t" in kept


def test_cells_that_are_not_known_are_all_cells():
    found = model("def f(A, B, idx, n):\n    for i in range(n):\n        A[idx[i]] = B[i]\n")
    assert cells(found, 0) == [("r0", "B"), ("r1", "idx"), ("o0", "A"), ("w0", "A")]
    write = found.statements[0].writes[0]
    assert not write.is_exact
    assert found.statements[0].instance(write) == "S0w0[v0_i, c0]"


def test_effects_are_chained():
    found = model("def f(A, n):\n    for i in range(n):\n        print(A[i])\n")
    assert ("xEeffects", "<effects>") in cells(found, 0)
    assert ("wEeffects", "<effects>") in cells(found, 0)


def test_an_exit_on_data_reads_what_is_live_and_controls_the_rest():
    text = """
def f(A, n):
    A[0] = 1
    if A[0] > 0:
        return
    A[1] = 2
"""
    found = model(text)
    assert ("xVA", "A") in cells(found, 1)
    assert ("xEcontrol", "<control>") in cells(found, 2)


def test_scratch_arguments_are_not_observed():
    assert "A" not in model("def f(A):\n    A[0] = 1\n", scratch=["A"]).observed


def gelu(v):
    return 0.5 * v * (1.0 + math.tanh(v))


def counted(v):
    global CALLS
    CALLS = v
    return v


CALLS = 0.0


def test_helpers_that_only_compute_have_no_effects():
    text = "def f(A, n):\n    for i in range(n):\n        A[i] = g(A[i])\n"
    assert not model(text, helpers={"g": gelu}).statements[0].accesses.acts
    assert model(text, helpers={"g": counted}).statements[0].accesses.acts
    assert model(text).statements[0].accesses.acts


@pytest.mark.parametrize(
    ("call", "acts"),
    [
        ("np.sqrt(A[i])", False),
        ("math.exp(A[i])", False),
        ("max(A[i], 0)", False),
        ("np.float32(A[i])", False),
        ("np.random.rand()", True),
        ("np.add(A[i], 1, out=A)", True),
        ("open(A[i])", True),
        ("A.sum()", False),
        ("A.sort()", True),
    ],
)
def test_calls(call, acts):
    found = model(f"def f(A, n):\n    for i in range(n):\n        A[i] = {call}\n")
    assert found.statements[0].accesses.acts == acts


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(A):\n    r = A[0]\n    r[0] = A[1, 1]\n", "view"),
        ("def f(A):\n    B = A\n    B[0] = A[1]\n", "view"),
        ("def f(A):\n    A = A + 1\n    A[0] = 1\n", "new array"),
        ("def f(A):\n    del A\n", "delete statement"),
        ("def f(A):\n    A[0] = (x := 2)\n", "binds names"),
        ("def f(A):\n    def g():\n        pass\n    A[0] = 1\n", "functiondef"),
        ("def f(A, n):\n    i, A[i] = n, 1\n", "same statement changes"),
        ("def f(A, n):\n    i, n, A[i] = n, 2, 1\n", "same statement changes"),
        ("def f(A, B):\n    A[0], B[A[0]] = 1, 2\n", "same statement changes"),
        ("def f(A, B, n):\n    A[0], n, B[A[0]] = 1, 2, 3\n", "same statement changes"),
        ("def f(A):\n    r = A[0]\n    r += 1\n    A[0, 0] = 2\n", "view"),
        ("def f(A):\n    for row in A:\n        row += 1\n", "may be arrays"),
        ("def f(A):\n    A.flat[0] = 1\n", "no name and no cell"),
        ("def f(A):\n    t = (1, 2)\n    A[0] = t[0]\n", "view"),
    ],
)
def test_what_is_not_modelled(text, reason):
    with pytest.raises(NotModelled, match=reason):
        model(text)


def test_a_negative_index_counts_from_the_end():
    found = model("def f(A, B, n):\n    for i in range(n):\n        B[i] = A[i - 2] + A[-1]\n")
    text = str(found.sinks)
    assert "A_A[-1 + s0_A]" in text
    assert "A_A[-2 + s0_A + v0_i]" in text
