from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.decorator import from_source
from astile.errors import IllegalSchedule, ScheduleError
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.rewrites.cache_write import cache_write
from astile.rewrites.reorder import reorder
from astile.rewrites.split import split
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    loops,
    program,
    refused,
    rewritten,
    sizes,
)
from tests.support.staged import assert_emulates, bind_threads

Golden = Callable[[str, str], None]

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
COLUMNS = """
def columns(x, y):
    n, m = x.shape
    for i in range(m):
        for k in range(n):
            y[i] += x[k, i]
"""
INTERIOR = """
def interior(x, y):
    n = len(x)
    for i in range(1, n - 1):
        y[i] = x[i - 1] + x[i + 1]
"""
STRIDED = """
def strided(x, y):
    for i in range(len(x)):
        y[2 * i + 1] = x[i]
"""
RUNNING = """
def running(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]
"""
SOMETIMES = """
def sometimes(x, y):
    for i in range(len(x)):
        if x[i] > 4:
            y[i] = x[i]
"""
LOWER = """
def lower(x, y):
    n = len(x)
    for i in range(n):
        for j in range(i + 1):
            y[i, j] = x[i] + j
"""


def tiled(text: str, variables: list[str], factors: list[int]) -> tuple[Program, list[int]]:
    """A program with loops tiled, and the identities of all outer and all inner loops."""
    after = program(text)
    outer, inner = [], []
    for identity, size in zip(loops(after, *variables), factors, strict=True):
        after, made = applied(split, after, identity, [None, size])
        outer.append(made[0])
        inner.append(made[1])
    if len(outer) > 1:
        after = rewritten(reorder, after, [*outer, *inner])
    return after, [*outer, *inner]


def matmul_tiled(size: int, depth: int) -> tuple[Program, list[int]]:
    after, [i_0, j_0, i_1, j_1] = tiled(MATMUL, ["i", "j"], [size, size])
    after, [k_0, k_1] = applied(split, after, loop(after, "k"), [None, depth])
    after = rewritten(reorder, after, [i_0, j_0, k_0, i_1, j_1, k_1])
    return after, [i_0, j_0, k_0]


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 3.0 % 7, np.full(n, 100.0)


def twice_as_long(n: int) -> tuple[object, ...]:
    return np.arange(n) * 3.0, np.full(2 * n, 100.0)


def in_place(n: int) -> tuple[object, ...]:
    return (np.arange(n) % 5,)


def rows(n: int) -> tuple[object, ...]:
    return np.arange(n * 4).reshape(4, n), np.full(n, 100)


def squares(n: int) -> tuple[object, ...]:
    return np.arange(n), np.full((n, n), 100)


def matrices(n: int) -> tuple[object, ...]:
    a, b = np.arange(n * (n + 2)) % 7, np.arange((n + 2) * (n + 1)) % 5
    return a.reshape(n, n + 2), b.reshape(n + 2, n + 1), np.full((n, n + 1), 9)


# --- rewrites -----------------------------------------------------------------------------------


def test_what_is_initialised_inside_is_not_copied_in(golden: Golden) -> None:
    before, [_, j_0, _] = matmul_tiled(16, 8)
    after, made = applied(cache_write, before, "C", "local", j_0)
    golden("rewrites/cache_write/matmul.py", module_text(after))
    assert [after.loop(each).target.id for each in made] == ["C_0", "C_1"]
    assert_proved(program(MATMUL), after)


def test_an_update_is_copied_in(golden: Golden) -> None:
    before, [i_0, i_1] = tiled(COLUMNS, ["i"], [16])
    before = rewritten(reorder, before, [i_0, loop(before, "k"), i_1])
    after, made = applied(cache_write, before, "y", "local", i_0)
    golden("rewrites/cache_write/columns.py", module_text(after))
    assert [after.loop(each).target.id for each in made] == ["y_0", "y_0"]
    assert_proved(program(COLUMNS), after)


def test_the_edges_are_those_of_what_is_written(golden: Golden) -> None:
    before, [i_0, _] = tiled(INTERIOR, ["i"], [16])
    after = rewritten(cache_write, before, "y", "shared", i_0)
    golden("rewrites/cache_write/interior.py", module_text(after))
    assert_proved(program(INTERIOR), after)


@pytest.mark.parametrize(
    ("name", "text"), [("strided", STRIDED), ("sometimes", SOMETIMES), ("running", RUNNING)]
)
def test_cells_between_keep_their_value(golden: Golden, name: str, text: str) -> None:
    before, [i_0, _] = tiled(text, ["i"], [4])
    array = "x" if name == "running" else "y"
    after = rewritten(cache_write, before, array, "local", i_0)
    golden(f"rewrites/cache_write/{name}.py", module_text(after))
    assert_proved(program(text), after)


def test_a_triangle(golden: Golden) -> None:
    before = program(LOWER)
    before, [i_0, i_1] = applied(split, before, loop(before, "i"), [None, 8])
    before, [j_0, j_1] = applied(split, before, loop(before, "j"), [None, 8])
    before = rewritten(reorder, before, [i_0, j_0, i_1, j_1])
    after = rewritten(cache_write, before, "y", "shared", j_0)
    golden("rewrites/cache_write/triangle.py", module_text(after))
    assert_proved(program(LOWER), after)


def test_one_cell(golden: Golden) -> None:
    before = program(MATMUL)
    after = rewritten(cache_write, before, "C", "local", loop(before, "j"))
    golden("rewrites/cache_write/one_cell.py", module_text(after))
    assert_proved(before, after)


def test_an_intermediate_of_zeros() -> None:
    text = COLUMNS.replace("(x, y)", "(x, z)").replace(
        "n, m = x.shape", "n, m = x.shape\n    y = np.zeros(m)"
    )
    text += "    for i in range(m):\n        z[i] = y[i] * 2\n"
    before, [i_0, _] = tiled(text, ["i"], [16])
    after = rewritten(cache_write, before, "y", "global", i_0)
    assert "y_global = np.empty(16, np.float64)" in module_text(after)
    assert_proved(program(text), after)


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["Shared", "register", ""])
def test_no_such_scope(scope: str) -> None:
    before, [i_0, _] = tiled(INTERIOR, ["i"], [16])
    error = refused(cache_write, before, "y", scope, i_0)
    assert error.code == "schedule.bad-scope"


def test_nothing_writes_it() -> None:
    before = program(MATMUL)
    error = refused(cache_write, before, "A", "local", loop(before, "i"))
    assert error.code == "schedule.not-written"
    before = program(INTERIOR + "    for k in range(n):\n        y[k] += 1\n")
    error = refused(cache_write, before, "x", "local", loop(before, "k"))
    assert error.code == "schedule.not-written"
    assert error.diagnostic.span is not None


def test_loops_that_write_it_are_named() -> None:
    before = program(INTERIOR + "    for k in range(n):\n        x[k] += 1\n")
    error = refused(cache_write, before, "y", "local", loop(before, "k"))
    assert "loops that write it: i" in str(error)


@pytest.mark.parametrize("use", ["y[i] = np.sum(y)", "y[0:3] = 1", "g(y)", "y += 1"])
def test_used_as_a_whole(use: str) -> None:
    before = program(
        f"def f(x, y):\n    for i in range(len(y)):\n        y[i] = x[i]\n        {use}\n"
    )
    error = refused(cache_write, before, "y", "local", loop(before, "i"))
    assert error.code == "schedule.used-whole"
    assert error.diagnostic.span is not None


def test_a_negative_index() -> None:
    text = INTERIOR.replace("y[i] =", "y[i - 2] =")
    before, [i_0, _] = tiled(text, ["i"], [4])
    error = refused(cache_write, before, "y", "shared", i_0)
    assert error.code == "schedule.negative-index"
    assert "y[i_0 * 4 + i_1 - 1]" in str(error)


def test_a_size_that_is_no_literal() -> None:
    before = program(MATMUL)
    error = refused(cache_write, before, "C", "shared", loop(before, "i"))
    assert error.code == "schedule.not-literal"
    assert "axis 1 of a shared tile of C" in str(error)
    assert "is N, no literal" in str(error)


def test_a_region_that_is_not_known() -> None:
    before = program("""
def f(x, p, y):
    for i in range(len(x)):
        for k in range(3):
            y[k * k] = x[i] * p[i, k]
""")
    error = refused(cache_write, before, "y", "local", loop(before, "i"))
    assert error.code == "schedule.not-literal"
    assert "tile of y" in str(error)


def test_cells_that_data_pick_are_copied_in_before() -> None:
    before = program("""
def f(x, p, y):
    for i in range(len(x)):
        for k in range(3):
            y[p[i, k]] = x[i]
""")
    after = rewritten(cache_write, before, "y", "local", loop(before, "i"))
    assert_proved(before, after)
    picked = np.arange(21).reshape(7, 3) % 9 - 4
    assert_same_results(before, after, lambda n: (np.arange(n), picked, np.ones(5)), (0, 1, 7))


def test_shared_inside_threads() -> None:
    before = program("""
def f(x, y):
    for i in thread.x(32):
        for k in range(4):
            y[i] += x[i * 4 + k]
""")
    error = refused(cache_write, before, "y", "shared", loop(before, "k"))
    assert error.code == "schedule.inside-threads"
    assert "the loop over i" in str(error)


def test_allocated_twice() -> None:
    text = INTERIOR.replace("n = len(x)", "n = len(x)\n    y = np.empty(n)\n    y = np.empty(n)")
    before = program(text)
    error = refused(cache_write, before, "y", "local", loop(before, "i"))
    assert error.code == "schedule.several-allocations"


def shared_between(x, y, n):
    for i in range(n):
        for j in range(4):
            y[i + j] += x[i, j]


def test_tiles_of_blocks_that_overlap_are_refused() -> None:
    s = Schedule(shared_between)
    s.cache_write("y", "local", at="i")
    with pytest.raises(IllegalSchedule, match="y"):
        s.bind("i", "blockIdx.x")


def strided(x, y):
    for i in range(len(x)):
        y[2 * i + 1] = x[i]


def test_cells_between_are_not_written_by_other_blocks() -> None:
    s = Schedule(strided)
    i_0, _ = s.split("i", [None, 4])
    s.cache_write("y", "shared", at=i_0)
    s.bind(i_0, "blockIdx.x")  # 8 cells and 8 cells: none twice
    s = Schedule(strided)
    i_0, _ = s.split("i", [None, 4])
    s.bind(i_0, "blockIdx.x")
    s.cache_write("y", "shared", at=i_0)


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["shared", "local", "global"])
@pytest.mark.parametrize(
    ("text", "array", "arguments"),
    [
        (INTERIOR, "y", vectors),
        (STRIDED, "y", twice_as_long),
        (SOMETIMES, "y", vectors),
        (RUNNING, "x", in_place),
    ],
)
def test_vectors_at_awkward_sizes(
    scope: str, text: str, array: str, arguments: Callable[[int], tuple[object, ...]]
) -> None:
    before, [i_0, _] = tiled(text, ["i"], [4])
    after = rewritten(cache_write, before, array, scope, i_0)
    assert_same_results(program(text), after, arguments, sizes(4))


def test_sums_at_awkward_sizes() -> None:
    before, [i_0, i_1] = tiled(COLUMNS, ["i"], [5])
    before = rewritten(reorder, before, [i_0, loop(before, "k"), i_1])
    after = rewritten(cache_write, before, "y", "local", i_0)
    assert_same_results(program(COLUMNS), after, rows, sizes(5))
    after = rewritten(cache_write, before, "y", "local", loop(before, "k"))
    assert_same_results(program(COLUMNS), after, rows, sizes(5))


def test_triangles_at_awkward_sizes() -> None:
    before = program(LOWER)
    before, [i_0, i_1] = applied(split, before, loop(before, "i"), [None, 4])
    before, [j_0, j_1] = applied(split, before, loop(before, "j"), [None, 3])
    before = rewritten(reorder, before, [i_0, j_0, i_1, j_1])
    after = rewritten(cache_write, before, "y", "shared", j_0)
    assert_same_results(program(LOWER), after, squares, (0, 1, 3, 4, 5, 11, 13))


def test_matrices_at_awkward_sizes() -> None:
    before, [_, j_0, k_0] = matmul_tiled(4, 3)
    for at in (j_0, k_0):
        after = rewritten(cache_write, before, "C", "shared", at)
        assert_same_results(program(MATMUL), after, matrices, (0, 1, 3, 4, 5, 11, 13))


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]


def test_emulated_accumulators_of_threads() -> None:
    s = Schedule(matmul)
    i_0, j_0, i_1, j_1 = s.tile(["i", "j"], [4, 8])
    s.reorder(i_0, j_0, "k", i_1, j_1)
    s.bind(i_0, "blockIdx.y")
    s.bind(j_0, "blockIdx.x")
    c_0, c_1 = s.cache_write("C", "local", at=j_0)
    bind_threads(s, {"i_1": "threadIdx.y", "j_1": "threadIdx.x"})
    s.bind(c_0, "threadIdx.y")
    s.bind(c_1, "threadIdx.x")
    assert_emulates(s, matrices, (0, 1, 3, 4, 5, 11, 13))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([1, 3, 4]),
    st.sampled_from(["=", "+="]),
)
def test_any_window(window: list[int], stride: int, tile: int, operator: str) -> None:
    lines = "".join(
        f"        y[{stride} * i + {each}] {operator} x[i] + {each}\n" for each in window
    )
    text = f"def f(x, y):\n    n = len(x)\n    for i in range(1, n - 1):\n{lines}"
    before, [i_0, _] = tiled(text, ["i"], [tile])
    after = rewritten(cache_write, before, "y", "local", i_0)

    def arguments(n: int) -> tuple[object, ...]:
        return np.arange(n), np.full(3 * n + 4, 100)

    assert_same_results(program(text), after, arguments, (0, 1, 2, 3, 5, 8, 13))
    assert_proved(program(text), after)


def test_in_a_loop_that_is_not_taken_apart() -> None:
    """A fused loop whose number of trips is no affine one is a block by itself for the model."""
    s = Schedule(
        from_source("""
def counted(a, h):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            h[a[i, j] % 7] += 1
""")
    )
    s.fuse("i", "j")
    with pytest.raises(ScheduleError):
        s.cache_write("h", "local", at="i_j_fused")


# --- trace --------------------------------------------------------------------------------------


def test_the_printed_script_replays() -> None:
    s = Schedule(matmul)
    j_0 = s.tile(["i", "j"], [4, 8])[1]
    s.cache_write("C", "local", at=j_0)
    assert s.steps[-1].call == "cache_write('C', 'local', at='j_0')"
    assert_replays(s)


def half_matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += np.float32(A[i, k]) * np.float32(B[k, j])


@pytest.mark.parametrize("is_first", [True, False])
def test_the_sums_of_a_thread_around_tiles_of_matrix_units(is_first: bool) -> None:
    """The two rows of a thread lie 8 apart: its tile holds those, and none between."""
    s = Schedule(half_matmul)
    s.specialize("M % 16 == 0 and N % 8 == 0 and K % 16 == 0")
    pairs = [
        s.split(f"{each}#0", [None, size], tail="perfect")
        for each, size in (("i", 16), ("j", 8), ("k", 16))
    ]
    s.reorder(*(each[0] for each in pairs), *(each[1] for each in pairs))
    (i_0, i_1), (j_0, j_1), (k_0, k_1) = pairs
    for operand in "AB":
        s.cache_read(operand, "shared", at=k_0)
    half, row = s.split(i_1, [2, 8])
    pair, cell = s.split(j_1, [4, 2])
    s.reorder(row, pair, half, cell, k_1)
    for bound, axis in ((i_0, "blockIdx.y"), (j_0, "blockIdx.x"), (row, "threadIdx.y")):
        s.bind(bound, axis)
    s.bind(pair, "threadIdx.x")
    if is_first:
        s.tensorize(half, "mma.m16n8k16.f16")
    *copied_in, rows, columns = s.cache_write("C", "local", at=pair)
    assert len(copied_in) == 2
    assert [s.program.loop(each.identity).iter.args[0].value for each in (rows, columns)] == [2, 2]
    if not is_first:
        s.tensorize(half, "mma.m16n8k16.f16")
    assert "C_local = local.empty((2, 2), C.dtype)" in s.source()
    kernel = s.build("emulate")
    random = np.random.default_rng(5)
    for m, k, n in ((16, 32, 8), (32, 16, 16), (5, 7, 3)):
        a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((m, k), (k, n)))
        made = np.full((m, n), 9, np.float32)
        kernel(a, b, made)
        np.testing.assert_array_equal(made, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("primitive", ["cache_read", "cache_write"])
def test_a_tile_of_a_tile_that_lives_further_inside(primitive: str) -> None:
    s = Schedule(
        program("""
def copied(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[i, j] * 2
""")
    )
    s.cache_write("y", "local", at="j")
    with pytest.raises(ScheduleError, match="y_local lives inside the loop over j") as caught:
        getattr(s, primitive)("y_local", "local", at="i")
    assert caught.value.code == "schedule.not-nested"
    assert "`store_at` first" in str(caught.value)
    s.store_at("y_local", "i")
    if primitive == "cache_write":
        s.cache_write("y_local", "local", at="i")
