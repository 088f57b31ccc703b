from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule, ScheduleError
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.rewrites.reorder import reorder
from astile.rewrites.rfactor import rfactor
from astile.rewrites.split import split
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    program,
    refused,
    rewritten,
    sizes,
    stage,
)
from tests.support.staged import assert_emulates

Golden = Callable[[str, str], None]

ROWS = """
def rows(x, y):
    n, m = x.shape
    for i in range(n):
        y[i] = {start}
        for k in range(m):
            {update}
"""
DOT = """
def dot(x, y):
    s = 0.0
    for k in range(len(x)):
        s += x[k] * y[k]
    return s
"""
MATMUL = """
def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]
"""
UPDATES = {
    "sum": ("0.0", "y[i] += x[i, k]"),
    "difference": ("100", "y[i] -= x[i, k]"),
    "spelled_out": ("3", "y[i] = x[i, k] + y[i]"),
    "product": ("1", "y[i] *= x[i, k]"),
    "maximum": ("0", "y[i] = max(y[i], x[i, k])"),
    "minimum": ("x[i, 0]", "y[i] = min(x[i, k], y[i])"),
    "condition": ("5", "if x[i, k] > y[i]:\n                y[i] = x[i, k]"),
    "counted": ("0", "if x[i, k] > 2:\n                y[i] += 1"),
}


def rows_text(name: str) -> str:
    start, update = UPDATES[name]
    return ROWS.format(start=start, update=update)


def in_parts(text: str, name: str, variable: str, factor: int, number: int) -> Program:
    """A program whose loop over a variable is split, and reduced in parts for one of the two."""
    before = program(text)
    before, made = applied(split, before, loop(before, variable), [None, factor])
    return rewritten(rfactor, before, stage(before, name), made[number])


def rows(n: int) -> tuple[object, ...]:
    return np.arange(n * (n + 1)).reshape(n, n + 1) % 5 + 1, np.full(n, 9)


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) % 7, np.arange(n) % 5


def matrices(n: int) -> tuple[object, ...]:
    a, b = np.arange(n * (n + 2)) % 7, np.arange((n + 2) * (n + 1)) % 5
    return a.reshape(n, n + 2), b.reshape(n + 2, n + 1), np.full((n, n + 1), 9)


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", UPDATES)
def test_every_kind_of_reduction(golden: Golden, name: str) -> None:
    after = in_parts(rows_text(name), "y", "k", 8, 1)
    golden(f"rewrites/rfactor/{name}.py", module_text(after))
    assert_proved(program(rows_text(name)), after)


def test_the_outer_loop(golden: Golden) -> None:
    after = in_parts(rows_text("sum"), "y", "k", 8, 0)
    golden("rewrites/rfactor/outer.py", module_text(after))
    assert_proved(program(rows_text("sum")), after)


def test_a_scalar(golden: Golden) -> None:
    after = in_parts(DOT, "s#1", "k", 8, 1)
    golden("rewrites/rfactor/dot.py", module_text(after))
    assert_proved(program(DOT), after)


def test_loops_over_cells_inside(golden: Golden) -> None:
    before = program(MATMUL)
    before, [k_0, _] = applied(split, before, loop(before, "k"), [None, 4])
    before = rewritten(reorder, before, [k_0, loop(before, "i"), loop(before, "j")])
    after = rewritten(rfactor, before, stage(before, "C#1"), k_0)
    golden("rewrites/rfactor/matmul.py", module_text(after))
    assert_proved(program(MATMUL), after)


def test_an_array_that_is_only_touched_when_there_is_something_to_add(golden: Golden) -> None:
    text = rows_text("maximum").replace("        y[i] = 0\n", "")
    after = in_parts(text, "y", "k", 8, 1)
    golden("rewrites/rfactor/started_outside.py", module_text(after))
    assert_proved(program(text), after)


def test_a_loop_with_start_and_step() -> None:
    text = rows_text("sum").replace("range(m)", "range(m - 1, 0, -2)")
    before = program(text)
    after = rewritten(rfactor, before, stage(before, "y"), loop(before, "k"))
    assert "y_rf[i, (m - k - 1) // 2] += x[i, k]" in module_text(after)
    assert_proved(before, after)
    assert_same_results(before, after, rows, sizes(4))


def test_handles_are_the_new_loops() -> None:
    before = program(rows_text("sum"))
    before, [_, k_1] = applied(split, before, loop(before, "k"), [None, 8])
    after, made = applied(rfactor, before, stage(before, "y"), k_1)
    assert [after.loop(each).target.id for each in made] == ["k_1", "k_1"]
    assert k_1 not in made


def rows_sum(x, y):
    n, m = x.shape
    for i in range(n):
        y[i] = 0.0
        for k in range(m):
            y[i] += x[i, k]


def test_the_iterations_are_independent_afterwards() -> None:
    s = Schedule(rows_sum)
    k_0, _ = s.split("k", [None, 64])
    with pytest.raises(IllegalSchedule, match="y"):
        s.parallel(k_0)
    s.rfactor("y", k_0)
    s.parallel(k_0)
    assert s.steps[1].proof.kind == "equal up to reassociation"


def test_a_triangle_has_parts_for_its_longest_row() -> None:
    before = program("""
def f(x, y):
    for i in range(len(y)):
        y[i] = 0
        for k in range(i):
            y[i] += x[i, k]
""")
    after = rewritten(rfactor, before, stage(before, "y"), loop(before, "k"))
    assert "np.empty((y.shape[0], max(0, len(y) - 1)), y.dtype)" in module_text(after)
    assert_proved(before, after)
    assert_same_results(before, after, rows, (0, 1, 2, 5))


HISTOGRAM = """
def histogram(x, w, counts):
    for i in range(x.shape[0]):
        {update}
"""
HISTOGRAMS = {
    "counts": "counts[x[i]] += 1",
    "weights": "counts[x[i]] -= w[i] * 2",
    "greatest": "counts[x[i]] = max(counts[x[i]], w[i])",
    "a name for the bin": "b = x[i] // 2\n        counts[b] += w[i]",
    "some only": "if w[i] > 1:\n            counts[x[i]] += w[i]",
    "greatest of some": "if w[i] > 1:\n            counts[x[i]] = max(counts[x[i]], w[i])",
}


def bins(size: int) -> tuple[object, ...]:
    x = np.arange(size, dtype=np.int64) * 7 % 8 - 2
    return x, np.arange(size, dtype=np.int64) % 5, np.ones(6, np.int64)


@pytest.mark.parametrize("name", HISTOGRAMS)
@pytest.mark.parametrize("factors", [[None, 4], [3, None]])
def test_cells_that_data_pick_have_a_row_for_each_part(
    name: str, factors: list[int | None]
) -> None:
    before = program(HISTOGRAM.format(update=HISTOGRAMS[name]))
    after, [i_0, _] = applied(split, before, loop(before, "i"), factors)
    after = rewritten(rfactor, after, stage(after, "counts"), i_0)
    text = module_text(after)
    parts = "3" if factors[0] else "(x.shape[0] + 3) // 4"
    assert f"np.empty(({parts}, counts.shape[0]), counts.dtype)" in text
    assert "counts_rf[i_0, counts_0]" in text
    assert_proved(before, after)
    assert_same_results(before, after, bins, sizes(4))


def test_some_axes_may_be_known() -> None:
    before = program("""
def f(x, counts):
    n, m = x.shape
    for b in range(n):
        for i in range(m):
            counts[b, x[b, i], 2] += 1
""")
    after = rewritten(rfactor, before, stage(before, "counts"), loop(before, "i"))
    assert "counts_rf[i, b, x[b, i], 2] += 1" in module_text(after)
    assert_proved(before, after)
    x = np.arange(15).reshape(3, 5) % 4
    assert_same_results(before, after, lambda n: (x[:, :n], np.zeros((3, 4, 3), int)), (0, 1, 5))


# --- refuses ------------------------------------------------------------------------------------


def test_not_inside_the_loop() -> None:
    before = program(DOT + "    for q in range(3):\n        x[q] = 1\n")
    error = refused(rfactor, before, stage(before, "s#1"), loop(before, "q"))
    assert error.code == "schedule.not-nested"
    assert "s#1 is not computed inside the loop over q" in str(error)


def test_a_loop_over_cells() -> None:
    before = program(rows_text("sum"))
    error = refused(rfactor, before, stage(before, "y"), loop(before, "i"))
    assert error.code == "schedule.no-reduction"
    before = program(rows_text("sum").replace("        y[i] = 0.0\n", ""))
    error = refused(rfactor, before, stage(before, "y"), loop(before, "i"))
    assert error.code == "schedule.no-reduction"
    assert "a cell for each iteration of the loop over i" in str(error)


@pytest.mark.parametrize(
    "update",
    [
        "y[i] = x[i, k]",
        "y[i] = x[i, k] - y[i]",
        "y[i] = y[i] / x[i, k]",
        "y[i] = y[i] * 2 + x[i, k]",
        "y[i] = max(y[i], y[i] + x[i, k])",
        "y[x[i, k]] += y[i]",
    ],
)
def test_no_reduction(update: str) -> None:
    before = program(ROWS.format(start="0", update=update))
    error = refused(rfactor, before, stage(before, "y"), loop(before, "k"))
    assert error.code == "schedule.no-reduction"
    assert "not updated by one statement" in str(error)
    assert error.diagnostic.span is not None


@pytest.mark.parametrize(
    "more",
    ["seen[i] = counts[x[i]]", "counts[0] = 0", "counts[x[i]] *= 2"],
)
def test_a_histogram_whose_bins_are_needed_in_between(more: str) -> None:
    text = HISTOGRAM.format(update=f"counts[x[i]] += 1\n        {more}").replace("w,", "seen,")
    s = Schedule(program(text))
    i_0, _ = s.split("i", [None, 4])
    with pytest.raises(ScheduleError, match="rfactor"):
        s.rfactor("counts#0" if "counts[0]" in more or "*=" in more else "counts", i_0)


def test_a_histogram_of_slices() -> None:
    before = program(HISTOGRAM.format(update="counts[x[i] : x[i] + 2] += 1"))
    error = refused(rfactor, before, stage(before, "counts"), loop(before, "i"))
    assert error.code == "schedule.no-reduction"


def test_an_exact_histogram_of_reals() -> None:
    text = HISTOGRAM.format(update="counts[x[i]] += w[i] * 0.5")
    s = Schedule(program(text), exact=True)
    i_0, _ = s.split("i", [None, 4])
    with pytest.raises(IllegalSchedule, match="counts"):
        s.rfactor("counts", i_0)


def test_two_statements() -> None:
    before = program(rows_text("sum") + "            y[i] += 2\n")
    error = refused(rfactor, before, stage(before, "y"), loop(before, "k"))
    assert error.code == "schedule.no-reduction"


def test_where_the_largest_is() -> None:
    before = program("""
def f(x, y):
    for i in range(len(y)):
        best = x[i, 0]
        for k in range(8):
            if x[i, k] > best:
                best = x[i, k]
                y[i] = k
""")
    error = refused(rfactor, before, stage(before, "best"), loop(before, "k"))
    assert error.code == "schedule.no-reduction"


def test_a_scalar_under_a_condition() -> None:
    before = program("""
def f(x):
    s = x[0]
    for k in range(8):
        if x[k] > s:
            s = x[k]
    return s
""")
    error = refused(rfactor, before, stage(before, "s#1"), loop(before, "k"))
    assert error.code == "schedule.no-reduction"
    assert "max(s, ...)" in str(error)


def test_an_extent_that_data_decide() -> None:
    before = program("""
def f(x, p, y):
    for i in range(len(y)):
        y[i] = 0
        for k in range(p[i]):
            y[i] += x[i, k]
""")
    error = refused(rfactor, before, stage(before, "y"), loop(before, "k"))
    assert error.code == "schedule.no-reduction"


def test_cells_that_depend_on_what_is_reduced() -> None:
    before = program("""
def f(x, y, n):
    for k in range(n):
        for i in range(k, n):
            y[i] += x[i, k]
""")
    error = refused(rfactor, before, stage(before, "y"), loop(before, "k"))
    assert error.code == "schedule.bad-bounds"
    assert "the loop over i" in str(error)
    assert "depends on k" in str(error)


def test_a_bound_loop() -> None:
    before = program(rows_text("sum").replace("for k in range(m)", "for k in unroll(m)"))
    error = refused(rfactor, before, stage(before, "y"), loop(before, "k"))
    assert error.code == "schedule.already-bound"


def test_exact_sums_are_refused() -> None:
    s = Schedule(rows_sum, exact=True)
    k_0, _ = s.split("k", [None, 64])
    with pytest.raises(IllegalSchedule, match=r"y\[0\]"):
        s.rfactor("y", k_0)


def read_between(x, y, z):
    n, m = x.shape
    for i in range(n):
        y[i] = 0
        for k in range(m):
            y[i] += x[i, k]
            z[i, k] = y[i]


def test_a_running_sum_is_not_proved() -> None:
    s = Schedule(read_between)
    with pytest.raises(IllegalSchedule, match=r"y\["):
        s.rfactor("y", "k")


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("number", [0, 1])
def test_rows_at_awkward_sizes(name: str, number: int) -> None:
    after = in_parts(rows_text(name), "y", "k", 4, number)
    at = (1, 3, 4, 5, 11) if "x[i, 0]" in rows_text(name) else (0, 1, 3, 4, 5, 11, 13)
    assert_same_results(program(rows_text(name)), after, rows, at)


def test_scalars_at_awkward_sizes() -> None:
    for number in (0, 1):
        after = in_parts(DOT, "s#1", "k", 8, number)
        assert_same_results(program(DOT), after, vectors, sizes(8))


def test_matrices_at_awkward_sizes() -> None:
    before = program(MATMUL)
    before, [k_0, _] = applied(split, before, loop(before, "k"), [None, 4])
    before = rewritten(reorder, before, [k_0, loop(before, "i"), loop(before, "j")])
    after = rewritten(rfactor, before, stage(before, "C#1"), k_0)
    assert_same_results(program(MATMUL), after, matrices, (0, 1, 2, 3, 5, 11))


def test_emulated_across_threads() -> None:
    s = Schedule(rows_sum)
    s.bind("i", "blockIdx.x")
    _, k_1 = s.split("k", [None, 8])
    s.rfactor("y", k_1)
    s.set_scope("y_rf", "shared")
    start, middle, _ = (each for each in s.loops() if each.var == "k_1")
    s.reorder(k_1, "k_0")
    s.bind(start, "threadIdx.x")
    s.bind(middle, "threadIdx.x")
    assert_emulates(s, rows, (0, 1, 7, 8, 9, 19))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(sorted(UPDATES)),
    st.integers(0, 2),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([1, 3, 8]),
    st.integers(0, 1),
)
def test_any_range(name: str, first: int, step: int, factor: int, number: int) -> None:
    text = rows_text(name).replace("range(m)", f"range({first}, m, {step})")
    after = in_parts(text, "y", "k", factor, number)
    assert_same_results(program(text), after, rows, (1, 2, 5, 9))
    assert_proved(program(text), after)


# --- trace --------------------------------------------------------------------------------------


def test_the_printed_script_replays() -> None:
    s = Schedule(rows_sum)
    k_0, k_1 = s.split("k", [None, 4])
    s.rfactor("y", k_1)
    assert s.steps[-1].call == "rfactor('y', 'k_1')"
    assert_replays(s)
    s.rfactor("y_rf", k_0)
    assert_replays(s)


def test_a_sum_that_reads_other_cells_of_its_array() -> None:
    before = program("""
def solve(L, b):
    for i in range(len(b)):
        for j in range(i):
            b[i] -= L[i, j] * b[j]
""")
    error = refused(rfactor, before, stage(before, "b"), loop(before, "j"))
    assert error.code == "schedule.no-reduction"
    assert "it reads b[j] too" in str(error)
    s = Schedule(
        program("""
def solve(L, b):
    for i in range(len(b)):
        acc = 0.0
        for j in range(i):
            acc += L[i, j] * b[j]
        b[i] -= acc
""")
    )
    s.rfactor("acc", "j")


def test_the_parts_are_allocated_where_their_loop_need_not_run() -> None:
    """In the branch of large sizes ``n - 1`` is not negative; before the branches it may be."""
    s = Schedule(
        program("""
def total(x, y):
    n = x.shape[0]
    for j in range(1, n):
        y[0] += x[j]
""")
    )
    s.specialize("n < 3")
    s.rfactor("y#1", "j#1")
    assert "max(0, n - 1)), y.dtype)" in s.source()
    for n in (0, 1, 2, 3, 7):
        expected, found = np.zeros(1), np.zeros(1)
        s.build("python")(np.arange(float(n)), found)
        expected[0] = sum(range(1, n))
        np.testing.assert_array_equal(found, expected)
