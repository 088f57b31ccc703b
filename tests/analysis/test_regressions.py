"""What the fuzzer found, made small; each a claim that did not hold once."""

from __future__ import annotations

import pytest

from astile.errors import IllegalSchedule
from astile.frontend.build import build_from_source
from astile.schedule.schedule import Schedule
from astile.schedule.trace import Call
from tests.fuzz.oracle import Case, check
from tests.fuzz.programs import Source

_SIZES = {"A": ("n",), "B": ("n",), "C": ("m",), "D": ("n", "m"), "E": ("m", "n")}


def source(text: str) -> Source:
    """A program of the fuzzer; the arrays that it does not name are left out."""
    text = "import numpy as np\n\n\n" + text.strip("\n") + "\n"
    head = text.partition("def f(")[2].partition(")")[0]
    return Source(text, {k: v for k, v in _SIZES.items() if k in head.split(", ")})


def refused(program: Source, call: Call) -> IllegalSchedule:
    schedule = Schedule(build_from_source(program.text))
    with pytest.raises(IllegalSchedule) as caught:
        getattr(schedule, call.primitive)(*call.arguments, **call.options)
    return caught.value


def test_a_statement_in_a_block_that_is_kept_whole_is_not_missing():
    program = source(
        """
def f(D, E):
    n = E.shape[1]
    for j in range(1):
        for i in range(2, n):
            t = 0.0
            for k in range(n - i):
                t += 1.0
            D[j, j] = t
"""
    )
    call = Call("split", ("i",), {"factors": [3, None]})
    assert check(Case(program, (call,))) is None
    s = Schedule(build_from_source(program.text))
    s.split("i", [3, None])
    assert s.steps[-1].proof.kind == "equal"


def test_an_iteration_that_writes_another_cell_is_no_last_writer():
    program = source(
        """
def f(A, B, C):
    n = len(B)
    m = C.shape[0]
    T1 = np.empty((n, m))
    for j in range(m):
        T1[0, j] = 0
    C[0] = T1[0, 0]
    A[0] += B[1]
"""
    )
    call = Call("reverse_compute_inline", ("C",), {})
    assert check(Case(program, (call,))) is None
    assert refused(program, call).kind in ("unknown", "extra")


def test_a_value_that_is_lost_is_not_said_to_come_too_late():
    program = source(
        """
def f(A, C):
    n = len(A)
    s = 0.0
    for i in range(2):
        for j in range(n):
            s += A[j] * s
            C[0] = s
"""
    )
    error = refused(program, Call("expand", ("s", "j"), {}))
    assert (error.kind, error.array) == ("unknown", "s")
    assert "would not reach" in error.args[0]


def test_the_sizes_of_a_witness_are_not_negative():
    program = source(
        """
def f(B, C):
    n = len(B)
    T1 = np.zeros(n + 2)
    for i in range(n + 2):
        T1[i] = C[0] - B[(i + 1) % 3]
    for i in range(n - 1):
        B[i] = T1[i + 2]
"""
    )
    call = Call("merge", ("i#0", "i#1"), {})
    sizes = refused(program, call).witness.sizes
    assert min(sizes.values()) >= 0
    assert sizes["C.shape[0]"] > 0
    assert check(Case(program, (call,))) is None


def test_what_only_happens_outside_of_an_array_changes_nothing():
    program = source(
        """
def f(E, n, m):
    T1 = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            T1[i, j] = i - j
    for i in range(m - 1):
        for j in range(n - 1):
            E[i, j] = T1[i, j]
"""
    )
    call = Call("compute_inline", ("T1",), {})
    s = Schedule(build_from_source(program.text))
    s.compute_inline("T1")  # at m = 4, n = 2 the function as written leaves T1
    assert s.steps[-1].proof.kind == "equal"
    assert check(Case(program, (call,))) is None


@pytest.mark.parametrize(
    ("call", "loop"),
    [
        (Call("parallel", ("k",), {}), "s = 2.0 * s"),
        (Call("reverse", ("k",), {}), "s = 2.0 * s + k"),
    ],
)
def test_a_witness_is_of_sizes_at_which_every_name_has_a_value(call, loop):
    program = source(
        f"""
def f(D, E, n, m):
    s = 1.0
    for i in range(m):
        for j in range(n):
            E[i, j] = 1.0
    D[0, 0] = i + j
    for k in range(3):
        {loop}
    D[0, 0] = s
"""
    )
    sizes = refused(program, call).witness.sizes
    assert sizes["n"] > 0
    assert sizes["m"] > 0
