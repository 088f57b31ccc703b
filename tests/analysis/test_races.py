"""Races: which loops may run in any order, and the two iterations that show why one may not."""

from __future__ import annotations

from random import Random

import pytest

from astile.analysis import isl
from astile.analysis.concurrency import races
from astile.analysis.concurrency.races import RaceWitness
from astile.analysis.proof.verdicts import Proved, Refuted, Unknown, Verdict
from tests.support import race_trace
from tests.support.programs import program_from
from tests.support.race_programs import SHAPES, orderly_program, random_program


def check(text: str) -> Verdict:
    return races.check(program_from(text))


def refuted(text: str) -> RaceWitness:
    verdict = check(text)
    assert isinstance(verdict, Refuted), verdict
    assert isinstance(verdict.witness, RaceWitness)
    return verdict.witness


def unknown(text: str) -> str:
    verdict = check(text)
    assert isinstance(verdict, Unknown), verdict
    return verdict.reason


def proved(text: str) -> bool:
    verdict = check(text)
    assert isinstance(verdict, Proved), verdict
    return True


# --- parallel and vector loops ------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parallel", "vector"])
def test_iterations_share_a_local_array_from_outside(kind: str) -> None:
    text = """
def k(x, out):
    sums = local.empty(16, np.float32)
    for i in range(16):
        sums[i] = 0
    for k in range(4):
        for i in KIND(16):
            sums[i] += x[k, i]
    for i in range(16):
        out[i] = sums[i]
"""
    assert proved(text.replace("KIND", kind))
    assert refuted(text.replace("KIND", kind).replace("sums[i] +=", "sums[0] +=")).array == "sums"


VERSIONS = """
def k(x, out):
    for i in parallel(16):
        if x.shape[1] > 8:
            two = local.empty(2, np.float32)
            for j in range(2):
                two[j] = x[i, j]
            out[i] = two[0] + two[1]
        else:
            two = local.empty(2, np.float32)
            for j in range(2):
                two[j] = x[i, 0]
            out[i] = two[1]
"""


def test_versions_of_a_loop_with_local_arrays_of_one_name() -> None:
    assert proved(VERSIONS)
    assert refuted(VERSIONS.replace("out[i] = two[1]", "out[0] = two[1]")).array == "out"
    shared = VERSIONS.replace("    for i in", "    two = local.empty(2, np.float32)\n    for i in")
    assert refuted(shared.replace("            two = local.empty(2, np.float32)\n", ""))
    for other in ("local.empty(3, np.float32)", "local.zeros(2, np.float32)"):
        assert proved(other.join(VERSIONS.rsplit("local.empty(2, np.float32)", 1)))


@pytest.mark.parametrize("kind", ["parallel", "vector", "block.x", "thread.x"])
def test_each_iteration_with_a_cell_of_its_own(kind: str) -> None:
    assert proved(f"""
def k(x, out):
    for i in {kind}(16):
        out[i] = x[i] + x[i + 1]
""")


@pytest.mark.parametrize("kind", ["parallel", "vector", "block.x", "thread.x"])
def test_all_iterations_writing_one_cell(kind: str) -> None:
    witness = refuted(f"""
def k(x, out):
    for i in {kind}(16):
        out[0] = x[i]
""")
    assert (witness.kind, witness.array, witness.cell) == ("race", "out", (0,))
    assert "both write out[0]" in witness.message
    assert witness.first is not None
    assert witness.second is not None
    assert witness.first.iteration != witness.second.iteration


@pytest.mark.parametrize(
    ("kind", "hint"), [("block.x", "('a', 'shared')` first"), ("parallel", "('a', 'local')` first")]
)
def test_an_intermediate_of_each_iteration_belongs_into_near_memory(kind: str, hint: str) -> None:
    text = f"""
def k(x, out):
    a = np.empty(17)
    for i in {kind}(16):
        for j in range(2):
            a[i + j] = x[i + j]
        out[i] = a[i] + a[i + 1]
"""
    assert hint in refuted(text).hints[0]
    read_later = text + "    out[0] = a[0]\n"
    assert not any("set_scope" in each for each in refuted(read_later).hints)


@pytest.mark.parametrize("kind", ["parallel", "vector"])
def test_a_sum_over_the_loop_is_refused_with_advice(kind: str) -> None:
    witness = refuted(f"""
def k(x, out):
    for i in range(x.shape[0]):
        for j in {kind}(x.shape[1]):
            out[i] += x[i, j]
""")
    assert witness.message == "iteration j=0 reads out[0], which iteration j=1 writes"
    assert witness.hints == (
        "out is a reduction over j: keep j a plain loop, inside of the bound ones",
        "legal to bind or to run in parallel: i",
    )


def test_a_scalar_sum_over_the_loop_is_refused() -> None:
    witness = refuted("""
def k(x, out):
    s = 0.0
    for i in parallel(x.shape[0]):
        s += x[i]
    out[0] = s
""")
    assert witness.array == "s"
    assert "s is a reduction over i" in witness.hints[0]


def test_a_sum_inside_what_is_kept_whole_is_a_reduction_too() -> None:
    witness = refuted("""
def k(x, y):
    n = x.shape[0]
    for i in parallel(n):
        for j in range(n):
            if i == j:
                continue
            y[0, 1] += x[i, j]
""")
    assert witness.depends_on_data
    assert "y is a reduction over i" in witness.hints[0]


@pytest.mark.parametrize("update", ["x[i] = x[i] + x[i - 1]", "x[i] += x[i - 1]"])
def test_a_recurrence_is_no_reduction(update: str) -> None:
    witness = refuted(f"""
def k(x):
    for i in parallel(1, x.shape[0]):
        {update}
""")
    assert witness.array == "x"
    assert witness.hints == ("keep i a plain loop, or give each iteration cells of its own",)


@pytest.mark.parametrize(
    "update", ["s = s + x[i]", "s = max(s, x[i])", "if x[i] > s:\n            s = x[i]"]
)
def test_reductions_that_are_spelled_out(update: str) -> None:
    witness = refuted(f"""
def k(x, out):
    s = 0.0
    for i in parallel(x.shape[0]):
        {update}
    out[0] = s
""")
    assert "s is a reduction over i" in witness.hints[0]


def test_an_update_in_place_of_neighbours_is_refused() -> None:
    witness = refuted("""
def k(a):
    for i in parallel(1, a.shape[0] - 1):
        a[i] = a[i - 1] + a[i + 1]
""")
    assert witness.array == "a"
    first, second = witness.first, witness.second
    assert first is not None
    assert second is not None
    assert abs(dict(first.iteration)["i"] - dict(second.iteration)["i"]) == 1


def test_a_histogram_is_unknown_and_names_the_subscript() -> None:
    verdict = check("""
def k(x, h):
    for i in block.x(x.shape[0]):
        h[x[i]] += 1
""")
    assert isinstance(verdict, Unknown)
    assert "h: it is not known which cell h[x[i]] is" in verdict.reason
    assert str(verdict.span) == "kernel.py:3:9"


def test_triangular_domains() -> None:
    nest = """
def k(a, n):
    for i in parallel(n):
        for j in range(i):
            {}
"""
    assert proved(nest.format("a[i, j] = a[i, j] * 2.0"))
    assert proved(nest.format("a[i, j] = a[j, j]"))  # i > j: the diagonal is never written
    assert refuted(nest.format("a[i, j] = a[j, 0]")).array == "a"
    assert refuted(nest.format("a[j, j] = 1.0")).array == "a"


def test_only_iterations_that_run_count() -> None:
    assert proved("""
def k(a, n):
    for i in parallel(n):
        if i < 1:
            a[0] = 1.0
""")
    assert proved("""
def k(a):
    for i in parallel(0, 16, 2):
        a[i] = a[i + 1]
""")
    assert refuted("""
def k(a):
    for i in parallel(0, 16, 2):
        a[i] = a[i + 2]
""")


def test_what_meets_at_impossible_sizes_only_hides_nothing() -> None:
    text = """
def k(A, x, y, n):
    s = 0.0
    t = 0.0
    for i in parallel(n):
        A[i] = 1
        if n > A.shape[0]:
            BEFORE
        AFTER
"""
    cells = text.replace("BEFORE", "x[0] = 2").replace("AFTER", "y[0] = i")
    assert refuted(cells).array == "y"
    names = text.replace("BEFORE", "x[i] = s; s = 2.0").replace("AFTER", "y[i] = t; t = 3.0")
    assert refuted(names).array == "t"


def test_outer_plain_loops_are_equal() -> None:
    assert proved("""
def k(a, steps):
    for t in range(steps):
        for i in parallel(16):
            a[t + 1, i] = a[t, 15 - i]
""")


def test_a_negative_index_counts_from_the_end() -> None:
    witness = refuted("""
def k(a, n):
    for i in parallel(n):
        a[i - 1] = 1.0
""")
    assert witness.sizes["a.shape[0]"] == witness.sizes["n"] - 1


# --- names --------------------------------------------------------------------------------------


def test_names_written_before_they_are_read_are_private() -> None:
    assert proved("""
def k(x, out):
    for i in parallel(x.shape[0]):
        t = x[i] * 2.0
        if x[i] > 0.0:
            u = t + 1.0
            out[i] = u
        else:
            out[i] = t
""")


def test_a_name_written_under_a_condition_and_read_afterwards_is_not_private() -> None:
    witness = refuted("""
def k(x, out):
    last = 0.0
    for i in parallel(x.shape[0]):
        if i < 3:
            last = x[i]
    out[0] = last
""")
    assert witness.message == "last is written by iteration i=0 and read after the loop over i"


def test_a_name_written_under_a_condition_on_data_may_leave() -> None:
    witness = refuted("""
def k(x, out):
    best = 0.0
    for i in parallel(x.shape[0]):
        if x[i] > best:
            best = x[i]
    out[0] = best
""")
    assert witness.depends_on_data
    assert "may write" in witness.message


@pytest.mark.parametrize("loop", ["i in parallel(n)", "i in thread.x(n)"])
def test_a_name_that_may_not_be_written_has_a_value_from_elsewhere(loop: str) -> None:
    text = f"""
def k(x, out, n):
    for {loop}:
        if x[i] > 0:
            t = x[i]
        out[i] = t
"""
    assert not isinstance(check(text), Proved)
    sure = "t = 1\n        else:\n            t = 2\n"
    assert proved(text.replace("t = x[i]\n", sure))


def test_a_name_with_a_value_from_before_the_loop_is_unknown() -> None:
    assert "s may be read before it is written" in unknown("""
def k(x, out, s):
    for i in parallel(4):
        out[i] = s
        if i == 3:
            s = x[i]
""")


def test_a_loop_variable_read_after_the_loop_is_unknown() -> None:
    assert "i is read outside of its loop" in unknown("""
def k(x, out):
    for i in parallel(x.shape[0]):
        out[i] = x[i]
    out[0] = i
""")


def test_a_name_used_before_the_loop_that_counts_with_it() -> None:
    text = """
def k(x, out, m):
    for t in range(m):
        b = x[t]
        out[t] = b
{}for b in parallel(4):
{}    out[b] = out[b] + x[b]
"""
    assert proved(text.format("    ", "    "))
    assert "b is read outside of its loop" in unknown(
        text.format("        ", "        ").replace("        b = x[t]\n", "")
    )


def test_a_copy_is_an_array_of_its_own() -> None:
    text = """
def k(x, out):
    y = x.copy()
    for i in parallel(x.shape[0]):
        z = x.copy()
        z[0] = y[i]
        out[i] = z[0] + z[1]
"""
    assert proved(text)
    assert refuted(text.replace("z[", "y[")).array == "y"


def test_a_name_is_carried_over_phases_by_its_thread() -> None:
    text = """
def k(x, out):
    for b in block.x(x.shape[0]):
        for i in thread.x(16):
            s = x[b, i]
        for i in thread.x(16):
            out[b, i] = {}
"""
    witness = refuted(text.format("s"))  # as written, s is the value of the last thread
    assert witness.array == "s"
    assert "each thread has a s of its own" in witness.notes
    assert proved(text.format("x[b, i]"))


def test_each_value_of_a_name_is_looked_at() -> None:
    text = """
def k(x, y, out):
    for b in block.x(x.shape[0]):
        for i in thread.x(16):
            t = x[b, i]
            t = y[b, i]
        for i in thread.x(16):
            out[b, i] = t
"""
    assert refuted(text).array == "t"


@pytest.mark.parametrize("loops", ["for i in parallel(16):", "for i in thread.x(16):"])
def test_a_name_of_a_concurrent_loop_is_not_known_after_it(loops: str) -> None:
    text = f"""
def k(x, out):
    {loops}
        t = x[i]
        x[i] = t + 1
    out[0] = 1
"""
    assert proved(text)
    assert not isinstance(check(text.replace("= 1\n", "= t\n")), Proved)
    assert not isinstance(check(text.replace("t = x[i]", "if i > 2:\n            t = 1")), Proved)


def test_names_outside_thread_loops_are_computed_by_every_thread() -> None:
    assert proved("""
def k(x, out):
    for b in block.x(x.shape[0]):
        s = x[b, 0] + 1.0
        for k_0 in range(3):
            s = s * 2.0
            for i in thread.x(16):
                out[b, k_0, i] = s
""")


# --- memory made inside -------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["np", "shared", "local"])
def test_an_array_made_inside_the_loop_is_private(scope: str) -> None:
    inside = f"""
def k(x, out):
    for i in parallel(x.shape[0]):
        t = {scope}.empty((4,), np.float32)
        for j in range(4):
            t[j] = x[i, j]
        out[i] = t[0] + t[3]
"""
    assert proved(inside)
    lines = inside.splitlines()
    lines[2], lines[3] = f"    t = {scope}.empty((4,), np.float32)", lines[2]
    witness = refuted("\n".join(lines))
    assert witness.array == "t"


def test_an_array_made_inside_a_loop_over_blocks_belongs_to_the_block() -> None:
    inside = """
def k(x, out):
    for b in block.x(x.shape[0]):
        t = shared.empty((16,), np.float32)
        for i in thread.x(16):
            t[i] = x[b, i]
        for i in thread.x(16):
            out[b, i] = t[15 - i]
"""
    assert proved(inside)
    lines = inside.splitlines()
    lines[2], lines[3] = "    t = np.empty((16,), np.float32)", lines[2]
    witness = refuted("\n".join(lines))
    assert witness.message.startswith("block (b=")
    assert "blocks of one launch cannot wait for each other" in witness.notes


def test_a_local_array_made_inside_thread_loops_is_private() -> None:
    assert proved("""
def k(x, out):
    for b in block.x(x.shape[0]):
        for i in thread.x(16):
            r = local.empty((4,), np.float32)
            for j in range(4):
                r[j] = x[b, i, j]
            out[b, i] = r[0] + r[3]
""")


def test_a_local_array_of_a_block_keeps_its_cells_in_their_thread() -> None:
    text = """
def k(x, out):
    for b in block.x(x.shape[0]):
        acc = local.empty((16,), np.float32)
        for i in thread.x(16):
            acc[i] = x[b, i]
        for i in thread.x(16):
            out[b, i] = acc[{}]
"""
    assert proved(text.format("i"))
    assert refuted(text.format("15 - i")).array == "acc"


# --- blocks and threads -------------------------------------------------------------------------


def test_a_tile_read_by_other_threads_of_its_block_needs_a_barrier_and_no_refusal() -> None:
    assert proved("""
def k(x, out):
    for b in block.x(x.shape[0]):
        t = shared.empty((18,), np.float32)
        for i in thread.x(18):
            t[i] = x[b, i]
        for i in thread.x(16):
            out[b, i] = t[i] + t[i + 2]
""")


def test_threads_that_meet_inside_one_phase_are_refused_with_both_places() -> None:
    witness = refuted("""
def k(x, out):
    for b in block.x(x.shape[0]):
        t = shared.empty((16,), np.float32)
        for i in thread.x(16):
            t[i] = x[b, i]
            out[b, i] = t[15 - i]
""")
    error = witness.refusal()
    assert error.kind == "race"
    assert error.array == "t"
    assert error.witness is witness
    assert str(error) == (
        "thread (i=0) writes t[0], which thread (i=15) reads [illegal.race]\n"
        "  --> kernel.py:5:13\n"
        "  5 |             t[i] = x[b, i]\n"
        "    |             ^^^^ written by thread (i=0)\n"
        "  --> kernel.py:6:25\n"
        "  6 |             out[b, i] = t[15 - i]\n"
        "    |                         ^^^^^^^^^ read by thread (i=15)\n"
        "  note: no barrier can stand between them: they run the same loops over threads\n"
        "  note: for example with out.shape[0] = 1, x.shape[0] = 1, out.shape[1] = 16, "
        "x.shape[1] = 16\n"
        "  help: keep i a plain loop, or give each iteration cells of its own"
    )


def test_a_statement_between_two_thread_loops_runs_on_one_thread() -> None:
    text = """
def k(x, out):
    for b in block.x(x.shape[0]):
        t = shared.empty((8,), np.float32)
        for i in thread.y(8):
            t[i] = x[b, i]
            for j in thread.x({}):
                out[b, i, j] = t[i]
"""
    assert proved(text.format(1))
    witness = refuted(text.format(4))
    assert witness.message == "thread (i=0) writes t[0], which thread (i=0, j=1) reads"


def test_a_sequential_loop_inside_a_phase_orders_no_threads() -> None:
    witness = refuted("""
def k(x, out):
    for b in block.x(4):
        t = shared.empty((4,), np.float32)
        for i in thread.x(4):
            for k_0 in range(4):
                t[(i + k_0) % 4] = x[b, i]
""")
    assert "at k_0=" in witness.message


def test_a_time_step_inside_a_loop_over_blocks_is_refused_with_the_pair() -> None:
    witness = refuted("""
def k(a, steps):
    n = a.shape[1]
    for i in block.x(1, n - 1):
        for t in range(steps):
            a[t + 1, i] = a[t, i - 1] + a[t, i + 1]
""")
    assert witness.array == "a"
    assert witness.message.startswith("block (i=")
    assert "at t=" in witness.message
    assert "move the loop over t outside of the loops over blocks" in witness.hints[0]


def test_a_time_step_bound_to_blocks_is_refused_with_the_pair() -> None:
    witness = refuted("""
def k(a, steps):
    for t in block.x(steps):
        for i in range(1, a.shape[1] - 1):
            a[t + 1, i] = a[t, i - 1] + a[t, i + 1]
""")
    assert witness.message.startswith("block (t=")
    assert witness.hints[-1] == "legal to bind or to run in parallel: i"


def test_a_time_step_outside_of_the_blocks_is_a_launch_of_its_own() -> None:
    assert proved("""
def k(a, b, steps):
    n = a.shape[0]
    for t in range(steps):
        for i in block.x(1, n - 1):
            b[i] = a[i - 1] + a[i + 1]
        for i in block.x(1, n - 1):
            a[i] = b[i]
""")


def test_two_nests_are_two_kernels() -> None:
    assert proved("""
def k(x, y, out):
    for i in block.x(16):
        y[i] = x[i]
    for i in block.x(16):
        out[i] = y[15 - i]
""")


def test_blocks_are_compared_with_all_their_axes() -> None:
    text = """
def k(x, out):
    for i in block.y(8):
        for j in block.x(8):
            out[{}] = x[i, j]
"""
    assert proved(text.format("i, j"))
    assert proved(text.format("8 * i + j"))
    assert refuted(text.format("i + j")).array == "out"
    assert refuted(text.format("i")).array == "out"


def test_a_statement_beside_an_inner_loop_over_blocks() -> None:
    witness = refuted("""
def k(x, y, out):
    for i in block.y(8):
        y[i] = x[i, 0]
        for j in block.x(8):
            out[i, j] = y[i]
""")
    assert witness.array == "y"


# --- what cannot be said ------------------------------------------------------------------------


def test_calls_with_effects_are_unknown() -> None:
    assert "may do more than compute a value" in unknown("""
def k(x, out):
    for i in parallel(4):
        print(x[i])
        out[i] = x[i]
""")


def test_a_loop_left_early_is_unknown() -> None:
    assert "cannot be taken apart, or is left early" in unknown("""
def k(x, out):
    for i in parallel(x.shape[0]):
        if x[i] < 0.0:
            break
        out[i] = x[i]
""")


def test_a_concurrent_loop_inside_while_is_unknown() -> None:
    assert "stands inside a statement that cannot be taken apart" in unknown("""
def k(x, out, n):
    while n > 0:
        for i in parallel(4):
            out[i] = x[i]
        n -= 1
""")


def test_a_second_name_of_an_array_is_unknown() -> None:
    assert "not modelled" in unknown("""
def k(x):
    row = x[0]
    for i in parallel(4):
        row[i] = x[1, i]
""")


REST = """
def k(x, y, n):
    for i in parallel(n // 4):
        for j in range(4):
            t = np.empty(2, np.float32)
            t[0] = x[i * 4 + j]
            y[i * 4 + j] = t[0]
    {between}
    for i in range(n // 4 * 4, n):
        t = np.empty(3, np.float32)
        t[0] = x[i]
        y[i] = t[0]
    {after}
"""


def test_arrays_of_one_name_are_apart_where_each_use_has_one_last_binding() -> None:
    assert proved(REST.format(between="pass", after="pass"))
    early = REST.format(between="pass", after="pass").replace(
        "    for i in par", "    t = np.zeros(9, np.float32)\n    for i in par"
    )
    assert proved(early)
    late = early.replace("y[i] = t[0]", "y[i] = t[0]\n        t = np.empty(2, np.float32)")
    assert late != early
    assert proved(late)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    {after}", "    y[0] = t[0]"),  # of the last iteration, or of none
        (
            "t = np.empty(2, np.float32)",
            "if x[0] > 0:\n                t = np.zeros(2, np.float32)",
        ),
        (
            "        for j in range(4):\n            t = np.empty(2, np.float32)",
            "        t = np.zeros(2, np.float32)\n        for j in range(4):\n"
            "            t[1] = t[0]\n            t = np.empty(2, np.float32)",
        ),
    ],
)
def test_a_use_that_may_be_of_several_arrays_of_one_name_is_not_taken_apart(
    old: str, new: str
) -> None:
    text = REST.replace(old, new)
    assert text != REST
    assert not isinstance(check(text.format(between="pass", after="pass")), Proved)


@pytest.mark.parametrize("made", ["t + 1", "np.full(4, t[0] + 1)", "np.empty(t.shape[0] + 1)"])
def test_an_array_that_is_made_of_the_one_of_its_name_before_is_not_taken_apart(made: str) -> None:
    assert "t is not one array throughout" in unknown(f"""
def k(y):
    t = np.zeros(4, np.float32)
    for i in parallel(16):
        t = {made}
        y[i] = t[0]
""")


def test_the_same_axis_twice_is_unknown() -> None:
    assert "are both bound to thread.x" in unknown("""
def k(x, out):
    for i in thread.x(4):
        for j in thread.x(4):
            out[i, j] = x[i, j]
""")


def test_blocks_inside_threads_are_unknown() -> None:
    assert "runs over blocks inside i" in unknown("""
def k(x, out):
    for i in thread.x(4):
        for j in block.x(4):
            out[i, j] = x[i, j]
""")


def test_a_spent_budget_is_unknown() -> None:
    program = program_from("""
def k(x, out):
    for i in parallel(x.shape[0]):
        out[i] = x[i]
""")
    verdict = races.check(program, budget=isl.Budget(1e-9))
    assert isinstance(verdict, Unknown)
    assert "not proved within" in verdict.reason


TILE = """
def k(x, out):
    for b in block.x(x.shape[0]):
        s = x[b, 0]
        t = shared.empty((16,), np.float32)
        for i in thread.x(16):
            t[i] = x[b, i] + s
        for i in thread.x(16):
            out[b, i] = t[15 - i]
"""


def test_a_failure_of_isl_is_never_independence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call into isl fails once; the verdict is unknown each time."""
    calls = _count_calls(monkeypatch, None)
    assert calls > 10
    for failing in range(calls):
        _count_calls(monkeypatch, failing)


def _count_calls(monkeypatch: pytest.MonkeyPatch, failing: int | None) -> int:
    made = 0

    def wrap(function):  # type: ignore[no-untyped-def]
        def wrapped(*args, **kwargs):  # type: ignore[no-untyped-def]
            nonlocal made
            made += 1
            if made - 1 == failing:
                raise isl.Error("injected")
            return function(*args, **kwargs)

        return wrapped

    with monkeypatch.context() as patch:
        for owner, names in (
            (isl.Session, ("set", "union_set", "union_map")),
            (isl.UnionMap, ("is_empty", "apply_range", "intersect", "subtract", "reverse")),
            (isl, ("flow",)),
        ):
            for name in names:
                patch.setattr(owner, name, wrap(getattr(owner, name)))
        verdict = races.check(program_from(TILE))
    if failing is None:
        assert isinstance(verdict, Proved)
    else:
        assert isinstance(verdict, Unknown)
        assert "injected" in verdict.reason
    return made


# --- against the oracle -------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", range(8))
def test_verdicts_agree_with_all_pairs_of_random_programs(chunk: int) -> None:
    """Proved: no two accesses clash at small sizes. Refuted: they do at the sizes it names."""
    checked = 0
    for seed in range(chunk * 40, chunk * 40 + 40):
        text = random_program(Random(seed))
        try:
            runs = [race_trace.trace(text, {**SHAPES, "n": n}) for n in (0, 1, 2, 3, 4)]
        except (NameError, IndexError):
            continue  # not a program: a name is read before it is written
        verdict = races.check(program_from(text))
        checked += 1
        if isinstance(verdict, Proved):
            assert all(map(race_trace.is_free_of_races, runs)), text
        elif isinstance(verdict, Refuted):
            assert isinstance(verdict.witness, RaceWitness)
            assert verdict.witness.depends_on_data or _is_real(text, verdict.witness), text
    assert checked > 20


def _is_real(text: str, witness: RaceWitness) -> bool:
    sizes: dict[str, tuple[int, ...] | int] = {"n": witness.sizes.get("n", 1)}
    for array, shape in SHAPES.items():
        sizes[array] = tuple(
            witness.sizes.get(f"{array}.shape[{axis}]", extent) for axis, extent in enumerate(shape)
        )
    try:
        events = race_trace.trace(text, sizes)
    except IndexError:  # an access under a condition on data, which no size condition covers
        events = race_trace.trace(text, {**SHAPES, "n": sizes["n"]})
    return not race_trace.is_free_of_races(events)


@pytest.mark.parametrize("seed", range(25))
def test_orderly_kernels_are_rarely_refused(seed: int) -> None:
    """Kernels without races are proved; what is refused has two iterations that meet."""
    text = orderly_program(Random(seed))
    verdict = check(text)
    if isinstance(verdict, Refuted):
        assert isinstance(verdict.witness, RaceWitness)
        assert _is_real(text, verdict.witness)
    else:
        assert isinstance(verdict, Proved)
        events = race_trace.trace(text, {**SHAPES, "n": 3})
        assert race_trace.is_free_of_races(events)


def test_iterations_of_another_form_are_no_witness() -> None:
    """Of an index of mixed radix, more iterations are taken as concurrent than there are."""
    verdict = check("""
def k(y):
    n = y.shape[0]
    for b in block.x((n * n + 1) // 2):
        for t in range(2):
            if b * 2 + t < n * n:
                y[(b * 2 + t) // n] = 1.0
""")
    assert isinstance(verdict, Unknown)
    assert verdict.array == "y"
    assert verdict.reason == "iterations that may run at the same time may meet in y"


def test_a_witness_is_shown_at_sizes_at_which_the_program_runs() -> None:
    """Also accesses that data decide stay inside their arrays there, and chosen cells exist."""
    witness = refuted("""
def k(x, y, idx):
    for i in range(1, 4):
        s = 0.0
        for j in vector(i + 1):
            if x[j + 1] > 0:
                s += y[i + 2, idx[i]]
        y[idx[i], i + 2] = s
""")
    assert witness.array == "s"
    least = {"x.shape[0]": 5, "y.shape[0]": 6, "y.shape[1]": 6, "idx.shape[0]": 4}
    assert all(witness.sizes[name] >= size for name, size in least.items()), witness.sizes


def test_threads_that_all_load_one_tile_are_told_to_share_it() -> None:
    witness = refuted("""
def k(a, w, out):
    for i in thread.x(8):
        for p in range(4):
            tile = shared.empty(4, a.dtype)
            for q in range(4):
                tile[q] = a[4 * p + q]
            for q in range(4):
                out[i] += tile[q] * w[i, 4 * p + q]
""")
    assert witness.array == "tile"
    assert "reorder it inside of p before tile is made" in witness.hints[0]
