"""What users read when a step would change the result, and that the hints in it are right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from astile.analysis.proof.verdicts import Unknown
from astile.errors import IllegalSchedule
from astile.schedule import advice
from astile.schedule.refusal import refusal
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import program

Golden = Callable[[str, str], None]

SWEEP = """
def sweep(A, x, reps):
    for m in range(reps):
        for i in range(len(A) - 1):
            A[i] = A[i + 1] + x
"""
JACOBI = """
def jacobi(a, b, steps):
    n = len(a)
    for t in range(steps):
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
        for i in range(1, n - 1):
            a[i] = b[i]
"""
BLUR = """
def blur(x, out):
    n = len(out)
    rows = np.empty(n + 2)
    for i in range(n + 2):
        rows[i] = x[i] * 2
    for k in range(n):
        out[k] = rows[k] + rows[k + 2]
"""
SUMS = """
def sums(x, y):
    n, m = x.shape
    for i in range(n):
        for k in range(m):
            y[i] += x[i, k]
"""
DIAGONALS = """
def diagonals(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i + j] = x[i, j]
"""
LAST = """
def last(x, y):
    for i in range(len(x)):
        y[0] = x[i]
"""
CLEARED = """
def cleared(x, y):
    n = len(x)
    for i in range(n):
        y[i] = x[i] * 2
    for k in range(n):
        x[k] = 0
    for l in range(n):
        y[l] += x[l]
"""
UPDATED = """
def updated(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            x[i, j] = x[i, j] * 2
    for i in range(n):
        for j in range(1, m - 1):
            y[i, j] = x[i, j - 1] + x[i, j + 1]
"""
CHECKED = """
def checked(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            if x[i, j] < 0:
                raise ValueError("below 0")
            y[i, j] = x[i, j]
"""

REFUSED: dict[str, tuple[str, Callable[[Schedule], Any]]] = {
    "reorder": (SWEEP, lambda s: s.reorder("i", "m")),
    "tile": (SWEEP, lambda s: s.tile(["m", "i"], [4, 8])),
    "reorder_output": (DIAGONALS, lambda s: s.reorder("j", "i")),
    "reverse": (LAST, lambda s: s.reverse("i")),
    "merge": (BLUR, lambda s: s.merge("i", "k")),
    "merge_anti": (CLEARED, lambda s: s.merge("i", "l")),
    "merge_in_time": (JACOBI, lambda s: s.merge("b.i", "a.i")),
    "compute_at": (UPDATED, lambda s: s.compute_at("x", "y.j")),
    "parallel": (SUMS, lambda s: s.parallel("k")),
    "bind": (SUMS, lambda s: s.bind("k", "threadIdx.x")),
    "control": (CHECKED, lambda s: s.reorder("j", "i")),
    "control_reversed": (CHECKED, lambda s: s.reverse("i")),
}


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let hints be found on a slow machine too."""
    monkeypatch.setattr(advice, "LIMIT", 30.0)


def refused(text: str, step: Callable[[Schedule], Any]) -> tuple[Schedule, IllegalSchedule]:
    schedule = Schedule(program(text))
    with pytest.raises(IllegalSchedule) as caught:
        step(schedule)
    return schedule, caught.value


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_texts(golden: Golden, name: str) -> None:
    schedule, error = refused(*REFUSED[name])
    text = str(error)
    golden(f"refusals/{name}.txt", text)
    assert len(text.splitlines()) <= 12
    assert not re.search(r"<\w+>|\b[ST]\d+\b|E_", text), "a name of the analysis"
    assert schedule.steps == (), "a refused step leaves nothing behind"


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_hints_work(name: str) -> None:
    """Calls that a hint calls legal, followed by the refused call where it says `first`."""
    schedule, error = refused(*REFUSED[name])
    for hint in error.diagnostic.hints:
        calls = re.findall(r"`(\w+\(.*?\))`", hint)
        if calls and ("first make" in hint or "is legal" in hint):
            again = schedule.copy()
            for call in calls:
                eval(f"again.{call}", {"again": again})
            if "first make" in hint:
                REFUSED[name][1](again)
            assert again.steps


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("reorder", "`skew('m', 'i', 1)` first makes this legal"),
        ("tile", "`skew('m', 'i', 1)` first makes this legal"),
        ("reorder_output", "`skew('i', 'j', 1)` first makes this legal"),
        ("merge", "`shift('k', 2)` first makes this legal"),
        ("merge_in_time", "`shift('a.i', 1)` first makes this legal"),
        ("compute_at", "`compute_at('x', 'i#1')` is legal"),
        ("bind", "legal to bind or to run in parallel: i"),
        ("parallel", "legal to bind or to run in parallel: i"),
    ],
)
def test_what_is_legal_instead(name: str, hint: str) -> None:
    _, error = refused(*REFUSED[name])
    assert hint in error.diagnostic.hints


def test_what_comes_before_a_hint_is_told() -> None:
    s = Schedule(
        program("""
def rows_of(x, out):
    n, m = out.shape
    row = np.empty((n + 1, m), np.float32)
    for i in range(n + 1):
        for j in range(m):
            row[i, j] = 2 * x[i, j]
    for i in range(n):
        for j in range(m):
            out[i, j] = row[i, j] + row[i + 1, j]
""")
    )
    s.split("out.i", [None, 16])
    s.compute_at("row", "i_0")
    with pytest.raises(IllegalSchedule) as caught:
        s.bind("i_0", "blockIdx.x")
    first, *_, last = caught.value.diagnostic.hints
    assert first == "`set_scope('row', 'shared')` first gives each block cells of its own"
    assert last.startswith("before `set_scope`: split the loops along this axis by literal factors")


@pytest.mark.parametrize("name", ["parallel", "bind"])
def test_a_sum_may_run_in_parts(name: str) -> None:
    schedule, error = refused(*REFUSED[name])
    hint = error.diagnostic.hints[-1]
    assert hint.startswith("or sum up in parts: `split('k', ")
    for call in re.findall(r"`(\w+\(.*?\))`", hint):
        eval(f"schedule.{call}", {"schedule": schedule})
    assert len(schedule.steps) == 3


@pytest.mark.parametrize(
    "step", [lambda s: s.rfactor("y", "k_1"), lambda s: s.reorder("k_1", "k_0")]
)
def test_exact_is_told_where_it_is_the_reason(step: Callable[[Schedule], Any]) -> None:
    for exact in (True, False):
        s = Schedule(program(SUMS), exact=exact)
        s.split("k", [None, 4])
        if not exact:
            step(s)
            continue
        with pytest.raises(IllegalSchedule) as caught:
            step(s)
        assert "without `exact=True` it is legal" in caught.value.diagnostic.hints[-1]


def test_exact_is_not_told_where_it_is_not_the_reason() -> None:
    s = Schedule(program(SWEEP), exact=True)
    with pytest.raises(IllegalSchedule) as caught:
        s.reorder("i", "m")
    assert not any("exact" in each for each in caught.value.diagnostic.hints)


@pytest.mark.parametrize("name", ["reverse", "merge_anti", "control"])
def test_a_general_hint_where_nothing_near_is_legal(name: str) -> None:
    _, error = refused(*REFUSED[name])
    [hint] = error.diagnostic.hints
    assert hint.startswith("keep the order of these two iterations")


def test_hints_are_looked_for_when_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    _, error = refused(*REFUSED["reorder"])
    tried = []
    monkeypatch.setattr(advice.Attempts, "works", lambda self, *calls, **_: tried.append(calls))
    assert error.code == "illegal.flow"
    assert tried == []
    assert "skew" not in str(error)
    assert len(tried) == 4


def test_the_search_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "LIMIT", 0.0)
    _, error = refused(*REFUSED["reorder"])
    [hint] = error.diagnostic.hints
    assert hint.startswith("keep the order of these two iterations")


def test_hints_are_about_the_schedule_as_it_was() -> None:
    schedule, error = refused(*REFUSED["merge"])
    schedule.shift("k", 2)
    schedule.merge("i", "k")
    assert "`shift('k', 2)` first makes this legal" in str(error)


def test_a_refused_tile_takes_its_splits_back() -> None:
    schedule = Schedule(program(SWEEP))
    schedule.split("i", [None, 64], names=["outer", "inner"])
    before = schedule.source()
    with pytest.raises(IllegalSchedule):
        schedule.tile(["m", "outer"], [4, 8])
    assert schedule.source() == before
    assert len(schedule.steps) == 1


def test_what_is_not_known_is_no_refutation() -> None:
    error = refusal(Unknown("too many loops"))
    assert error.kind == "unknown"
    assert error.witness is None
    assert "not proved to keep the result: too many loops" in str(error)
    assert "unsafe=True" in str(error)


def test_a_value_that_is_kept_elsewhere_is_no_write_out_of_order() -> None:
    """The sums go into cells of their own; what was read after the loop gets the start value."""
    s = Schedule(
        program("""
def f(C, E):
    n = len(C)
    for i in range(1, n):
        acc = 0.0
        for j in range(1, n):
            acc += E[j, j - 1]
            C[i] = acc
        E[0, i] = acc
""")
    )
    with pytest.raises(IllegalSchedule) as caught:
        s.distribute("j", at="C")
    assert caught.value.kind == "unknown"
    assert caught.value.array == "acc"
    assert "the value that iteration (i=1, j=1) writes to acc would not reach" in str(caught.value)
    assert "acc += E[j, j - 1]" in str(caught.value)


def test_lengths_that_the_iterations_do_not_depend_on_are_left_out():
    source = """
def sweep(x, w, out):
    n, m = out.shape
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1] - 1):
            x[i, j] = x[i - 1, j + 1] + x[i, j]
    for i in range(n):
        for j in range(m):
            out[i, j] = w[j]
"""
    with pytest.raises(IllegalSchedule) as caught:
        Schedule(program(source)).reorder("x.j", "x.i")
    assert "note: for example with x.shape[0] = 3, x.shape[1] = 3\n" in str(caught.value) + "\n"


CHAIN = """
def chain(x, out):
    n = len(out)
    a = np.empty(n + 2)
    b = np.empty(n + 1)
    for i in range(n + 2):
        a[i] = x[i] * 2
    for j in range(n + 1):
        b[j] = a[j] + a[j + 1]
    for k in range(n):
        out[k] = b[k] - b[k + 1]
"""


def test_producers_whose_rows_are_kept_first_are_named() -> None:
    s = Schedule(program(CHAIN))
    s.compute_at("b", "k")
    s.compute_at("a", "k")
    with pytest.raises(IllegalSchedule) as caught:
        s.rolling_buffer("b", "k")
    [hint] = caught.value.diagnostic.hints
    assert hint == "`rolling_buffer('a', 'k')` first makes this legal"
    s.rolling_buffer("a", "k")
    s.rolling_buffer("b", "k")


def test_an_iteration_that_adds_again_is_told_as_that() -> None:
    text = """
def means(x, out):
    n, m = x.shape
    g = np.zeros(n)
    for i in range(n):{first}
        for k in range(m):
            g[i] += x[i, k]
    for j in range(n - 1):
        out[j] = g[j] + g[j + 1]
"""
    s = Schedule(program(text.format(first="")))
    with pytest.raises(IllegalSchedule) as caught:
        s.compute_at("g", "j")
    assert "iteration (i=1, k=0) would run more than once, and update g[1]" in str(caught.value)
    assert "distance" not in str(caught.value)
    [hint] = caught.value.diagnostic.hints
    assert hint.startswith("write first values of g in the loops of the function that update it")
    s = Schedule(program(text.format(first="\n        g[i] = 0")))
    s.compute_at("g", "j")


def test_what_an_array_holds_where_it_is_made_is_not_of_the_call() -> None:
    s = Schedule(
        program("""
def padded(x, out):
    n = len(x)
    p = np.zeros(n + 2)
    for i in range(n):
        p[i + 1] = x[i]
    for j in range(n):
        out[j] = p[j] + p[j + 1] + p[j + 2]
""")
    )
    s.compute_at("p", "j")
    with pytest.raises(IllegalSchedule) as caught:
        s.rolling_buffer("p", "j")
    assert "would no longer be read as it was allocated" in str(caught.value)
    assert "at the call" not in str(caught.value)


def test_a_recurrence_is_merged_only_where_that_is_legal() -> None:
    text = """
def rolled(x, out):
    n = len(x)
    a = np.empty(n)
    for i in {order}:
        a[i] = x[i] if i == {first} else a[i {back} 1] + x[i]
    for k in range(n):
        out[k] = a[k]
"""
    hints = []
    for order, first, back in (("range(n)", "0", "-"), ("range(n - 1, -1, -1)", "n - 1", "+")):
        s = Schedule(program(text.format(order=order, first=first, back=back)))
        with pytest.raises(IllegalSchedule) as caught:
            s.compute_at("a", "k")
        hints.append(caught.value.diagnostic.hints)
    assert "`merge('i', 'k')` is legal: each iteration then runs once, in order" in hints[0]
    assert not any("is legal" in each for each in hints[1])


def test_a_loop_that_was_fused_is_not_said_to_be_multiplied() -> None:
    s = Schedule(
        program("""
def plus(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[i, j] + 1
""")
    )
    fused = s.fuse("i", "j")[0]
    with pytest.raises(IllegalSchedule) as caught:
        s.reverse(fused)
    assert "i_j_fused counts several loops at once" in str(caught.value)


def test_the_index_that_hides_an_iteration_is_told() -> None:
    s = Schedule(
        program("""
def gather(x, idx, out):
    t = np.empty(len(x))
    for i in range(len(x)):
        t[i] = x[i] * x[i]
    for j in range(len(out)):
        out[j] = t[idx[j]]
""")
    )
    with pytest.raises(IllegalSchedule, match=r"which iteration idx\[j\] is, sizes and loops"):
        s.compute_inline("t")
