from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.rewrites.reorder import reorder
from astile.rewrites.split import split
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loops,
    program,
    refused,
    rewritten,
    sizes,
)

Golden = Callable[[str, str], None]

PLAIN = """
def f(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            for k in range(3):
                y[i, j, k] = x[i, j] * k
"""
MATMUL = """
def matmul(A, B, C):
    M, N = C.shape
    K = A.shape[1]
    for i in range(M):
        for j in range(N):
            acc = 0.0
            for k in range(K):
                acc += A[i, k] * B[k, j]
            C[i, j] = acc
"""
TRIANGLE = """
def f(y, n):
    for i in range({outer}):
        for j in range({inner}):
            y[i, j] += 1
"""
TWO_SCALARS = """
def f(x, y, z):
    n, m = x.shape
    for i in range(n):
        s = 0.0
        p = 1.0
        for j in range(m):
            s += x[i, j]
            p *= x[i, j]
        y[i] = s
        z[i] = p
"""


def matrices(n: int) -> tuple[object, ...]:
    a = np.arange(n * (n + 1.0)).reshape(n, n + 1) % 7
    b = np.arange((n + 1.0) * (n + 2)).reshape(n + 1, n + 2) % 5
    return a, b, np.zeros((n, n + 2))


def tiled_matmul(tile: int) -> tuple[Program, Program, dict[str, int]]:
    before = program(MATMUL)
    after, handles = before, {}
    for variable in "ijk":
        after, made = applied(split, after, loops(after, variable)[0], [None, tile])
        handles[f"{variable}_0"], handles[f"{variable}_1"] = made
    return before, after, handles


# --- rewrites -----------------------------------------------------------------------------------


def test_a_perfect_nest(golden: Golden) -> None:
    before = program(PLAIN)
    after = rewritten(reorder, before, loops(before, "k", "i"))
    golden("rewrites/reorder/perfect.py", module_text(after))
    assert_proved(before, after)


def test_tiles_of_a_reduction(golden: Golden) -> None:
    before, after, at = tiled_matmul(16)
    order = ["i_0", "j_0", "k_0", "i_1", "j_1", "k_1"]
    after = rewritten(reorder, after, [at[each] for each in order])
    golden("rewrites/reorder/matmul.py", module_text(after))
    assert_proved(before, after)


def test_a_scalar_is_expanded_only_over_loops_whose_place_changes(golden: Golden) -> None:
    before = program(MATMUL)
    after = rewritten(reorder, before, loops(before, "k", "j"))
    golden("rewrites/reorder/scalar.py", module_text(after))
    assert_proved(before, after)


@pytest.mark.parametrize("start", ["np.float32(0)", "0.0", "0", "-0.5", "x[i, 0]"])
def test_scalars_of_all_types(golden: Golden, start: str) -> None:
    before = program(f"""
def f(x, y):
    n, m = x.shape
    for i in range(n):
        s = {start}
        for j in range(m):
            s += x[i, j]
        y[i] = s
""")
    after = rewritten(reorder, before, loops(before, "j", "i"))
    assert_proved(before, after)
    for dtype in (np.float32, np.float64):
        assert_same_results(
            before,
            after,
            lambda n, dtype=dtype: (
                (np.arange(n * (n + 1)) / 7).astype(dtype).reshape(n, n + 1),
                np.zeros(n),
            ),
            (1, 2, 5),
        )


def test_a_softmax(golden: Golden) -> None:
    before = program("""
def softmax(x, y):
    n, m = x.shape
    for i in range(n):
        most = x[i, 0]
        for j in range(1, m):
            most = max(most, x[i, j])
        for j in range(m):
            y[i, j] = math.exp(x[i, j] - most)
        total = x[i, 0] * 0
        for j in range(m):
            total += y[i, j]
        for j in range(m):
            y[i, j] = y[i, j] / total
""")
    after = rewritten(reorder, before, loops(before, "j#1", "i"))
    golden("rewrites/reorder/softmax.py", module_text(after))
    assert_proved(before, after)


def test_several_scalars(golden: Golden) -> None:
    before = program(TWO_SCALARS)
    after = rewritten(reorder, before, loops(before, "j", "i"))
    golden("rewrites/reorder/two_scalars.py", module_text(after))
    assert_proved(before, after)


def test_statements_before_between_and_behind(golden: Golden) -> None:
    before = program("""
def f(x, a, b):
    n, m = x.shape
    for i in range(n):
        a[i] = 1.0
        for j in range(m):
            b[i, j] = x[i, j]
        a[i] = a[i] * 2
""")
    after = rewritten(reorder, before, loops(before, "j", "i"))
    golden("rewrites/reorder/beside.py", module_text(after))
    assert_proved(before, after)


@pytest.mark.parametrize(
    ("name", "outer", "inner"),
    [
        ("lower", "n", "i + 1"),
        ("upper", "n", "i, n"),
        ("band", "n", "max(i - 1, 0), min(i + 2, n)"),
        ("stepped", "n", "i, n, 2"),
        ("falling", "n", "n - 1, i, -1"),
        ("falling_from", "n", "i, -1, -2"),
    ],
)
def test_triangles_become_guards(golden: Golden, name: str, outer: str, inner: str) -> None:
    before = program(TRIANGLE.format(outer=outer, inner=inner))
    after = rewritten(reorder, before, loops(before, "j", "i"))
    golden(f"rewrites/reorder/triangle_{name}.py", module_text(after))
    assert_proved(before, after)
    assert_same_results(before, after, lambda n: (np.zeros((n + 3, n + 3)), n), range(7))


def test_a_condition_of_the_user_moves_with_its_loops(golden: Golden) -> None:
    before = program("""
def f(x, y):
    n, m = x.shape
    for i in range(n):
        if i > 0:
            for j in range(m):
                y[i, j] = x[i - 1, j]
""")
    after = rewritten(reorder, before, loops(before, "j", "i"))
    golden("rewrites/reorder/condition.py", module_text(after))
    assert_proved(before, after)


def test_loops_outside_and_inside_of_those_that_move_are_not_touched() -> None:
    before = program("""
def f(x, y):
    n = x.shape[0]
    for a in range(n):
        y[a, 0, 0, 0] = 1.0
        for b in range(n):
            for c in range(n):
                s = 0.0
                for d in range(n):
                    s += x[a, b]
                y[a, b, c, 1] = s
""")
    after = rewritten(reorder, before, loops(before, "a", "c", "b", "d"))
    text = module_text(after)
    assert "np.empty" not in text
    assert text.count("for a in") == text.count("for d in") == 1
    assert_proved(before, after)


# --- refuses ------------------------------------------------------------------------------------


def test_one_loop_or_the_same_twice() -> None:
    before = program(PLAIN)
    for names in (["i"], ["i", "i"], []):
        error = refused(reorder, before, loops(before, *names))
        assert error.code == "schedule.bad-loops"
        assert "two or more different loops" in str(error)


def test_nothing_to_do() -> None:
    before = program(PLAIN)
    error = refused(reorder, before, loops(before, "i", "k"))
    assert error.code == "schedule.nothing-to-do"


def test_loops_beside_each_other() -> None:
    before = program("""
def f(x, y):
    for i in range(len(x)):
        y[i] = x[i]
    for j in range(len(x)):
        y[j] = y[j] * 2
""")
    error = refused(reorder, before, loops(before, "j", "i"))
    assert error.code == "schedule.not-nested"
    assert "the loops over j and i are not nested" in str(error)
    assert "compute_at" in str(error)


def test_two_inner_loops() -> None:
    before = program("""
def f(x, y):
    for t in range(3):
        for i in range(len(x)):
            y[i] = x[i]
        for j in range(len(x)):
            y[j] = y[j] * 2
""")
    error = refused(reorder, before, loops(before, "j", "i"))
    assert error.code == "schedule.not-nested"
    assert "over j and i" in str(error) or "over i and j" in str(error)


def test_a_while_between() -> None:
    before = program("""
def f(x, y):
    for i in range(len(x)):
        while y[i] > 1:
            for j in range(3):
                y[i] = y[i] / 2
""")
    error = refused(reorder, before, loops(before, "j", "i"))
    assert error.code == "schedule.not-nested"
    assert "no loop stands between" in str(error)


def test_an_array_of_one_iteration() -> None:
    before = program("""
def f(x, y):
    for i in range(len(x)):
        t = local.empty(3, np.float64)
        for k in range(3):
            t[k] = x[i] * k
            y[i, k] = t[k]
""")
    error = refused(reorder, before, loops(before, "k", "i"))
    assert error.code == "schedule.allocated-between"
    assert "t is allocated inside the loop over i" in str(error)


def test_an_else_between() -> None:
    before = program("""
def f(x, y):
    for i in range(len(x)):
        if i > 3:
            for j in range(3):
                y[i] = x[i]
        else:
            y[i] = 0
""")
    error = refused(reorder, before, loops(before, "j", "i"))
    assert error.code == "schedule.not-nested"


@pytest.mark.parametrize(
    ("inner", "code", "part"),
    [
        ("p[i], p[i + 1]", "schedule.bad-bounds", "the loop over j depend on a loop"),
        ("0, i * i", "schedule.bad-bounds", "the loop over j depend on a loop"),
        ("0, i, n", "schedule.not-counted", "the loop over j"),
    ],
)
def test_bounds_that_cannot_be_moved(inner: str, code: str, part: str) -> None:
    before = program(f"""
def f(y, p, n):
    for i in range(n):
        for j in range({inner}):
            y[i, j] += 1
""")
    error = refused(reorder, before, loops(before, "j", "i"))
    assert error.code == code
    assert part in str(error)


@pytest.mark.parametrize("start", ["np.float32(0.1)", "0.1", "np.exp(x)", "x[0, 0] > 1", "-1e30"])
def test_a_scalar_of_unknown_type_between(start: str) -> None:
    before = program(f"""
def f(x, y):
    n, m = x.shape
    for i in range(n):
        s = {start}
        for j in range(m):
            s += x[i, j]
        y[i] = s
""")
    error = refused(reorder, before, loops(before, "j", "i"))
    assert error.code == "schedule.unknown-type"
    assert "the scalar 's'" in str(error)


UNTYPED = """
def f(x, s, n):
    for i in range(n):
        t = s * i
        {first}
        u = t + 1
        for j in range(n):
            x[i, j] += u * j
            {inner}
        {last}
"""


@pytest.mark.parametrize("inner", ["pass", "x[i, j] += t"])
def test_scalars_of_unknown_type_are_computed_inside(inner: str) -> None:
    before = program(UNTYPED.format(first="pass", inner=inner, last="pass"))
    after = rewritten(reorder, before, loops(before, "j", "i"))
    assert_proved(before, after)
    assert_same_results(before, after, lambda n: (np.ones((n, n)), 3, n), (0, 1, 4))


@pytest.mark.parametrize(
    ("first", "inner", "last"),
    [
        ("pass", "s = s + 1", "pass"),
        ("pass", "u = u + 1", "pass"),
        ("pass", "pass", "x[i, 0] = u"),
        ("t = t + x[i, 0]", "pass", "pass"),
        ("s = s + 1", "pass", "pass"),
    ],
)
def test_scalars_of_unknown_type_that_cannot_be_computed_inside(
    first: str, inner: str, last: str
) -> None:
    before = program(UNTYPED.format(first=first, inner=inner, last=last))
    error = refused(reorder, before, loops(before, "j", "i"))
    assert error.code == "schedule.unknown-type"


def test_a_loop_left_early() -> None:
    before = program("""
def f(x, y):
    for i in range(len(x)):
        for j in range(3):
            if x[i] > j:
                break
            y[j, i] = 1
""")
    error = refused(reorder, before, loops(before, "j", "i"))
    assert error.code == "schedule.not-counted"
    assert "the loop over j may be left early" in str(error)


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "order",
    [
        ["i_0", "j_0", "k_0", "i_1", "j_1", "k_1"],
        ["k_0", "i_0", "j_0", "k_1", "i_1", "j_1"],
        ["j_0", "i_0", "i_1", "k_0", "j_1", "k_1"],
        ["i_1", "j_1"],
    ],
)
def test_matmul(order: list[str]) -> None:
    before, after, at = tiled_matmul(5)
    if order == ["i_1", "j_1"]:
        order = ["j_0", "i_0", "j_1", "i_1"]
    after = rewritten(reorder, after, [at[each] for each in order])
    assert_same_results(before, after, matrices, sizes(5))
    assert_proved(before, after)


def test_scalars_over_triangles() -> None:
    before = program("""
def f(x, y):
    n = x.shape[0]
    for i in range(n):
        for j in range(i):
            s = 0.0
            for k in range(j, n):
                s += x[i, k]
            y[i, j] = s
""")
    after = rewritten(reorder, before, loops(before, "k", "i"))

    def arguments(n: int) -> tuple[object, ...]:
        return np.arange(n * n * 1.0).reshape(n, n), np.zeros((n, n))

    assert_same_results(before, after, arguments, (0, 1, 2, 3, 6))
    assert_proved(before, after)


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.permutations(["i_0", "i_1", "j_0", "j_1", "k"]), st.integers(1, 4), st.integers(1, 4))
def test_every_order_of_independent_loops(order: list[str], first: int, second: int) -> None:
    before = program(PLAIN)
    after, _ = applied(split, before, loops(before, "i")[0], [None, first])
    after, _ = applied(split, after, loops(after, "j")[0], [None, second])
    wanted = loops(after, *order)
    if wanted == loops(after, "i_0", "i_1", "j_0", "j_1", "k"):
        assert refused(reorder, after, wanted).code == "schedule.nothing-to-do"
        return
    done = rewritten(reorder, after, wanted)

    def arguments(n: int) -> tuple[object, ...]:
        return np.arange(n * (n + 2.0)).reshape(n, n + 2), np.zeros((n, n + 2, 3))

    assert_same_results(before, done, arguments, (0, 1, 3, 5))


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(["0", "i", "i - 2", "n - i", "max(i, 2)", "2 * i"]),
    st.sampled_from(["n", "i + 3", "n - i", "min(i + 2, n)", "n + i // 2"]),
    st.sampled_from(["1", "2", "3", "-1", "-2"]),
)
def test_any_affine_triangle(start: str, stop: str, step: str) -> None:
    inner = f"{start}, {stop}, {step}" if int(step) > 0 else f"{stop}, {start}, {step}"
    before = program(f"""
def f(y, n):
    for i in range(n):
        for j in range({inner}):
            y[i + 20, j + 20] += i * 3 + j
""")
    after = rewritten(reorder, before, loops(before, "j", "i"))
    assert_same_results(before, after, lambda n: (np.zeros((60, 60)), n), range(7))


# --- trace --------------------------------------------------------------------------------------


def matmul(A, B, C):
    M, N = C.shape
    K = A.shape[1]
    for i in range(M):
        for j in range(N):
            acc = 0.0
            for k in range(K):
                acc += A[i, k] * B[k, j]
            C[i, j] = acc


def test_the_printed_script_replays() -> None:
    schedule = Schedule(matmul)
    made = [schedule.split(each, [None, 8]) for each in ("i", "j", "k")]
    (i_0, i_1), (j_0, j_1), (k_0, k_1) = made
    schedule.reorder(i_0, j_0, k_0, i_1, j_1, k_1)
    assert_replays(schedule)


def test_sizes_of_which_isl_finds_no_smallest() -> None:
    """The sizes at which this differs are not empty, and yet have no least point for isl."""
    s = Schedule(
        program("""
def f(E, D, n):
    for j in range(n - 2, -1, -2):
        for i in range(n):
            D[2 * i, 2 * j + 1] = 1.0
            E[min(j, j), i] = D[0, j]
""")
    )
    s.split("j", [None, 2])
    with pytest.raises(IllegalSchedule, match="D"):
        s.reorder("i", "j_1", "j_0")
