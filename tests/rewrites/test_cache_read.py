from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.frontend.build import build_from_source
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.rewrites.cache_read import cache_read
from astile.rewrites.compute_at import compute_at
from astile.rewrites.reorder import reorder
from astile.rewrites.set_scope import set_scope
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
    stage,
)
from tests.support.staged import assert_emulates, bind_threads

Golden = Callable[[str, str], None]

WINDOW = """
def window(x, y):
    n = len(x)
    for i in range(n - 2):
        y[i] = x[i] + x[i + 1] + x[i + 2]
"""
PADDED = """
def padded(img, out):
    h, w = img.shape
    for y in range(h):
        for x in range(w):
            s = 0.0
            if y > 0 and x > 0 and y < h - 1 and x < w - 1:
                for i in range(-1, 2):
                    for j in range(-1, 2):
                        s += img[y + i, x + j]
            out[y, x] = s
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
TWO_READERS = """
def two(x, y, z):
    n = len(x)
    for i_0 in range((n + 7) // 8):
        for i in range(8):
            if i_0 * 8 + i < n:
                y[i_0 * 8 + i] = x[i_0 * 8 + i] * 2
        for j in range(8):
            if i_0 * 8 + j < n - 1:
                z[i_0 * 8 + j] = x[i_0 * 8 + j + 1] + 1
"""
CHAIN = """
def chain(x, y):
    n = len(x)
    a = np.empty(n, np.float32)
    for i in range(1, n - 1):
        a[i] = x[i - 1] + x[i + 1]
    for i in range(2, n - 2):
        y[i] = a[i - 1] * a[i] * a[i + 1]
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


def matmul_tiled(bm: int, bk: int) -> tuple[Program, list[int]]:
    after, [i_0, j_0, i_1, j_1] = tiled(MATMUL, ["i", "j"], [bm, bm])
    after, [k_0, k_1] = applied(split, after, loop(after, "k"), [None, bk])
    after = rewritten(reorder, after, [i_0, j_0, k_0, i_1, j_1, k_1])
    return after, [i_0, j_0, k_0]


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 3.0, np.zeros(n)


def images(n: int) -> tuple[object, ...]:
    shape = (n, n + 3)
    return (np.arange(n * (n + 3)) % 17.0).reshape(shape), np.full(shape, 5.0)


def matrices(n: int) -> tuple[object, ...]:
    a, b = np.arange(n * (n + 2)) % 7, np.arange((n + 2) * (n + 1)) % 5
    return a.reshape(n, n + 2), b.reshape(n + 2, n + 1), np.full((n, n + 1), 9)


# --- rewrites -----------------------------------------------------------------------------------


def test_a_window_with_halo(golden: Golden) -> None:
    before, [i_0, _] = tiled(WINDOW, ["i"], [16])
    after, made = applied(cache_read, before, "x", "shared", i_0)
    golden("rewrites/cache_read/window.py", module_text(after))
    assert [after.loop(each).target.id for each in made] == ["x_0"]
    assert_proved(program(WINDOW), after)


def test_a_padded_image(golden: Golden) -> None:
    before = program(PADDED)
    before, [y_0, y_1] = applied(split, before, loop(before, "y"), [None, 8])
    before, [x_0, x_1] = applied(split, before, loop(before, "x"), [None, 8])
    before = rewritten(reorder, before, [y_0, x_0, y_1, x_1])
    after = rewritten(cache_read, before, "img", "shared", x_0)
    golden("rewrites/cache_read/padded.py", module_text(after))
    assert_proved(program(PADDED), after)


def test_both_operands(golden: Golden) -> None:
    before, [_, _, k_0] = matmul_tiled(16, 8)
    after = rewritten(cache_read, before, "A", "shared", k_0)
    after = rewritten(cache_read, after, "B", "shared", k_0)
    golden("rewrites/cache_read/matmul.py", module_text(after))
    assert_proved(program(MATMUL), after)


def test_an_intermediate_leaves_out_what_nobody_wrote(golden: Golden) -> None:
    before = program(CHAIN)
    before, [i_0, _] = applied(split, before, loop(before, "i", 1), [None, 8])
    after = rewritten(cache_read, before, "a", "local", i_0)
    golden("rewrites/cache_read/intermediate.py", module_text(after))
    assert_proved(program(CHAIN), after)


def test_a_tile_of_a_tile(golden: Golden) -> None:
    before = program(CHAIN)
    before, [i_0, i_1] = applied(split, before, loop(before, "i", 1), [None, 8])
    before = rewritten(compute_at, before, stage(before, "a"), i_0)
    before = rewritten(set_scope, before, "a", "shared")
    after = rewritten(cache_read, before, "a_shared", "local", i_1)
    golden("rewrites/cache_read/tile_of_a_tile.py", module_text(after))
    assert_proved(program(CHAIN), after)


def test_the_reads_of_one_stage(golden: Golden) -> None:
    before = program(TWO_READERS)
    after = rewritten(cache_read, before, "x", "shared", loop(before, "i_0"), stage(before, "z"))
    golden("rewrites/cache_read/one_stage.py", module_text(after))
    assert_proved(before, after)


def test_all_reads_are_redirected() -> None:
    before = program(TWO_READERS)
    after = module_text(rewritten(cache_read, before, "x", "shared", loop(before, "i_0")))
    assert "shared.empty(9, x.dtype)" in after
    assert after.count("x[") == 1


def test_symbolic_extents_are_local_or_global(golden: Golden) -> None:
    before = program(MATMUL)
    after = rewritten(cache_read, before, "A", "local", loop(before, "i"))
    golden("rewrites/cache_read/row.py", module_text(after))
    assert_proved(before, after)
    after = module_text(rewritten(cache_read, before, "A", "global", loop(before, "i")))
    assert "A_global = np.empty((1, K), A.dtype)" in after


def test_guards_vanish_where_they_always_hold() -> None:
    before = program("""
def f(x, y):
    for i in range(64):
        y[i] = x[i] * x[i + 1]
""")
    before, [i_0, _] = applied(split, before, loop(before, "i"), [None, 16])
    before = rewritten(cache_read, before, "x", "shared", i_0)
    assert "if i_0 * 16 + x_0 < len(x)" not in module_text(before)
    text = """
def f(x, y):
    a = np.empty(65)
    for i in range(65):
        a[i] = x[i]
    for i_0 in range(4):
        for i_1 in range(16):
            y[i_0 * 16 + i_1] = a[i_0 * 16 + i_1] * a[i_0 * 16 + i_1 + 1]
"""
    after = rewritten(cache_read, program(text), "a", "shared", loop(program(text), "i_0"))
    assert " if " not in module_text(after)
    assert_proved(program(text), after)


def test_a_tile_of_a_filled_array_has_its_type() -> None:
    def f(y: object) -> None:
        a = np.full((4, 4), 3)
        for i in range(4):
            for j in range(4):
                y[i] += a[i, j] // 2  # type: ignore[index]

    s = Schedule(f)
    s.cache_read("a", "local", at="i")
    assert "a_local = local.empty((1, 4), int)" in s.source()


def test_one_cell_needs_no_loop() -> None:
    before = program(MATMUL)
    after, made = applied(cache_read, before, "A", "local", loop(before, "k"))
    assert made == ()
    assert "A_local[0, 0] = A[i, k]" in module_text(after)
    assert_proved(before, after)


STRIDED = """
def strided(x, y):
    for i in range(len(x) // 3 - 1):
        y[i] = x[3 * i] * 2 + x[3 * i + 3]
"""


def test_cells_that_nobody_reads_have_no_room_in_a_tile(golden: Golden) -> None:
    before, [i_0, _] = tiled(STRIDED, ["i"], [4])
    after = rewritten(cache_read, before, "x", "shared", i_0)
    golden("rewrites/cache_read/strided.py", module_text(after))
    assert_proved(program(STRIDED), after)
    assert_same_results(program(STRIDED), after, vectors, [*sizes(4), *sizes(12)])


def test_strides_that_differ_share_their_common_divisor() -> None:
    text = STRIDED.replace("3 * i +", "6 * i +").replace("len(x) // 3", "len(x) // 6")
    before, [i_0, _] = tiled(text, ["i"], [4])
    after = rewritten(cache_read, before, "x", "local", i_0)
    assert "x_local[i_1] * 2 + x_local[i_0 * 4 + i_1 * 2 + 1]" in module_text(after)
    assert_proved(program(text), after)
    assert_same_results(program(text), after, vectors, [*sizes(4), *sizes(24)])


def test_a_clamped_index() -> None:
    text = """
def f(x, y):
    n = len(x)
    for i in range(n):
        y[i] = x[max(i - 1, 0)] + x[min(i + 1, n - 1)]
"""
    before, [i_0, _] = tiled(text, ["i"], [4])
    after = rewritten(cache_read, before, "x", "shared", i_0)
    assert "shared.empty(6, x.dtype)" in module_text(after)
    assert_proved(program(text), after)
    assert_same_results(program(text), after, vectors, sizes(4))


def test_the_copy_stands_behind_what_writes_the_array(golden: Golden) -> None:
    before = program("""
def f(x, a, y):
    for i in range(len(x)):
        for j in range(8):
            a[i, j] = x[i] * j
        for j in range(7):
            y[i, j] = a[i, j] + a[i, j + 1]
""")
    after = rewritten(cache_read, before, "a", "local", loop(before, "i"))
    golden("rewrites/cache_read/behind.py", module_text(after))
    assert_proved(before, after)


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["Shared", "register", ""])
def test_no_such_scope(scope: str) -> None:
    before, [i_0, _] = tiled(WINDOW, ["i"], [16])
    error = refused(cache_read, before, "x", scope, i_0)
    assert error.code == "schedule.bad-scope"
    assert "shared, local, global" in str(error)


def test_nothing_reads_it() -> None:
    before = program(CHAIN)
    error = refused(cache_read, before, "y", "local", loop(before, "i"))
    assert error.code == "schedule.not-a-consumer"
    error = refused(cache_read, before, "x", "local", loop(before, "i", 1))
    assert error.code == "schedule.not-a-consumer"
    assert "loops that read it: a.i" in str(error)
    assert error.diagnostic.span is not None


def test_a_stage_elsewhere() -> None:
    before = program(CHAIN)
    error = refused(cache_read, before, "x", "local", loop(before, "i"), stage(before, "y"))
    assert error.code == "schedule.not-nested"
    assert "y is not computed inside" in str(error)


def test_a_stage_that_does_not_read_it() -> None:
    before = program(TWO_READERS + "            y[0] = 1\n")
    error = refused(cache_read, before, "y", "local", loop(before, "i_0"), stage(before, "z"))
    assert error.code == "schedule.not-a-consumer"
    assert "z does not read" in str(error)


def test_an_array_that_is_updated() -> None:
    before = program(MATMUL)
    error = refused(cache_read, before, "C", "local", loop(before, "j"))
    assert error.code == "schedule.updated"
    assert "cache_write" in str(error)


def test_a_negative_index() -> None:
    text = """
def f(a, out):
    for i in range(len(a)):
        out[i] = a[i] - a[i - 1]
"""
    before, [i_0, _] = tiled(text, ["i"], [4])
    error = refused(cache_read, before, "a", "shared", i_0)
    assert error.code == "schedule.negative-index"
    assert "a[i_0 * 4 + i_1 - 1] may be negative" in str(error)


def test_a_size_that_is_no_literal() -> None:
    text = """
def f(a, r, out):
    n = len(a)
    for i in range(r, n - r):
        s = 0
        for k in range(-r, r + 1):
            s += a[i + k]
        out[i] = s
"""
    before, [i_0, _] = tiled(text, ["i"], [8])
    error = refused(cache_read, before, "a", "shared", i_0)
    assert error.code == "schedule.not-literal"
    assert "shared tile of a" in str(error)
    assert "r * 2 + 8, no literal constant" in str(error)


def test_a_region_that_is_not_known() -> None:
    before = program("""
def f(x, p, y):
    for i in range(len(y)):
        for k in range(3):
            y[i] += x[k * k] * p[i, k]
""")
    error = refused(cache_read, before, "x", "local", loop(before, "i"))
    assert error.code == "schedule.not-literal"
    assert "tile of x" in str(error)
    assert "is not known" in str(error)


def test_a_table_is_copied_as_a_whole() -> None:
    before = program("""
def f(x, p, y):
    for i in range(len(y)):
        for k in range(3):
            y[i] += x[p[i, k]]
""")
    after = rewritten(cache_read, before, "x", "local", loop(before, "i"))
    assert "y[i] += x_local[p[i, k]]" in module_text(after)
    assert_proved(before, after)
    picked = np.arange(21).reshape(7, 3) % 9 - 4
    assert_same_results(before, after, lambda n: (np.arange(5), picked, np.zeros(n)), (0, 1, 7))
    error = refused(cache_read, before, "x", "shared", loop(before, "i"))
    assert "is x.shape[0], no literal" in str(error)


@pytest.mark.parametrize(
    "use", ["y[i] = np.sum(x)", "y[i] = x[i] + max(x)", "y[i] = x[0:3].sum()", "g(x)"]
)
def test_used_as_a_whole(use: str) -> None:
    before = program(
        f"def f(x, y):\n    for i in range(len(y)):\n        y[i] = x[i]\n        {use}\n"
    )
    error = refused(cache_read, before, "x", "local", loop(before, "i"))
    assert error.code == "schedule.used-whole"
    assert error.diagnostic.span is not None


def test_shared_inside_threads() -> None:
    before = program("""
def f(x, y):
    for i in thread.x(32):
        for k in range(4):
            y[i] += x[i * 4 + k]
""")
    error = refused(cache_read, before, "x", "shared", loop(before, "k"))
    assert error.code == "schedule.inside-threads"
    assert "the loop over i" in str(error)


def test_allocated_twice() -> None:
    before = program(CHAIN + "    a = np.empty(n, np.float32)\n")
    error = refused(cache_read, before, "a", "local", loop(before, "i", 1))
    assert error.code == "schedule.several-allocations"


def seidel(x, n):
    for i in range(1, n):
        x[i] = x[i - 1] + x[i]


def overwritten(x, y, n):
    for i in range(n):
        x[i + 1] = y[i]
        y[i] = x[i] + x[i + 1]


def test_what_the_same_iteration_writes_is_not_proved() -> None:
    s = Schedule(seidel)
    i_0, _ = s.split("i", [None, 4])
    with pytest.raises(IllegalSchedule, match=r"x\["):
        s.cache_read("x", "local", at=i_0)
    assert len(s.steps) == 1
    s = Schedule(overwritten)
    s.cache_read("x", "local", at="i")
    s.undo()
    i_0, _ = s.split("i", [None, 4])
    with pytest.raises(IllegalSchedule, match=r"x\["):
        s.cache_read("x", "local", at=i_0)


# --- keeps meaning ------------------------------------------------------------------------------


def test_windows_at_awkward_sizes() -> None:
    before, [i_0, i_1] = tiled(WINDOW, ["i"], [5])
    for scope in ("shared", "local", "global"):
        after = rewritten(cache_read, before, "x", scope, i_0)
        assert_same_results(program(WINDOW), after, vectors, sizes(5))
    after = rewritten(cache_read, before, "x", "local", i_1)
    assert_same_results(program(WINDOW), after, vectors, sizes(5))


def test_images_at_awkward_sizes() -> None:
    before = program(PADDED)
    before, [y_0, y_1] = applied(split, before, loop(before, "y"), [None, 8])
    before, [x_0, x_1] = applied(split, before, loop(before, "x"), [None, 3])
    before = rewritten(reorder, before, [y_0, x_0, y_1, x_1])
    after = rewritten(cache_read, before, "img", "shared", x_0)
    assert_same_results(program(PADDED), after, images, (0, 1, 2, 7, 8, 9, 19))


def test_matrices_at_awkward_sizes() -> None:
    before, [_, _, k_0] = matmul_tiled(4, 3)
    after = rewritten(cache_read, before, "A", "shared", k_0)
    after = rewritten(cache_read, after, "B", "shared", k_0)
    assert_same_results(program(MATMUL), after, matrices, (0, 1, 3, 4, 5, 11, 13))


def test_intermediates_at_awkward_sizes() -> None:
    before = program(CHAIN)
    before, [i_0, _] = applied(split, before, loop(before, "i", 1), [None, 8])
    after = rewritten(cache_read, before, "a", "shared", i_0)
    assert_same_results(program(CHAIN), after, vectors, sizes(8))


def window(x, y):
    n = len(x)
    for i in range(n - 2):
        y[i] = x[i] + x[i + 1] + x[i + 2]


def test_emulated() -> None:
    s = Schedule(window)
    i_0, i_1 = s.split("i", [None, 8])
    s.bind(i_0, "blockIdx.x")
    s.bind(i_1, "threadIdx.x")
    [x_0] = s.cache_read("x", "shared", at=i_0)  # 10 cells for 8 threads
    s.split(x_0, [None, 8])
    bind_threads(s, {"x_0_1": "threadIdx.x"})
    assert_emulates(s, vectors, sizes(8))


def chain(x, y):
    n = len(x)
    a = np.empty(n, np.float32)
    for i in range(1, n - 1):
        a[i] = x[i - 1] + x[i + 1]
    for i in range(2, n - 2):
        y[i] = a[i - 1] * a[i] * a[i + 1]


def test_emulated_where_cells_are_never_written() -> None:
    s = Schedule(chain)
    for producer in s.loops():
        s.bind(s.split(producer, [None, 8])[0], "blockIdx.x")
    s.cache_read("a", "shared", at=s.loops("y")[0])
    assert_emulates(s, vectors, sizes(8))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([1, 3, 4]),
    st.integers(-1, 3),
)
def test_any_window(window: list[int], stride: int, tile: int, first: int) -> None:
    value = " + ".join(f"x[{stride} * i + {each + stride}]" for each in window)
    text = f"""
def f(x, y):
    n = len(x)
    for i in range({first}, (n - {max(window) + stride}) // {stride}):
        y[i + 1] = {value}
"""
    before, [i_0, _] = tiled(text, ["i"], [tile])
    after = rewritten(cache_read, before, "x", "shared", i_0)
    assert_same_results(program(text), after, vectors, (5, 6, 8, 13, 24))
    assert_proved(program(text), after)


# --- trace --------------------------------------------------------------------------------------


def two(x, y, z):
    for i in range(len(x) - 1):
        y[i] = x[i] * 2
        z[i] = x[i + 1] + 1


def test_the_printed_script_replays() -> None:
    s = Schedule(two)
    i_0, i_1 = s.split("i", [None, 8])
    s.cache_read("x", "shared", at=i_0, stage="z")
    s.cache_read("x", "local", i_1, stage="y")
    assert s.steps[-1].call == "cache_read('x', 'local', at='i_1', stage='y')"
    assert_replays(s)


def test_reads_that_do_not_move_with_the_loop_stay() -> None:
    text = """
def forces(p, f):
    n = len(p)
    for i in range(n):
        for j in range(n):
            f[i] += p[j] - p[i]
"""
    schedule = Schedule(build_from_source(text))
    outer, _ = schedule.split("j", [None, 8])
    schedule.cache_read("p", "shared", at=outer)
    printed = schedule.source("python")
    assert "f[i] += p_shared[j_1] - p[i]" in printed
    proof = schedule.steps[-1].proof
    assert proof is not None
    assert proof.kind == "equal"
