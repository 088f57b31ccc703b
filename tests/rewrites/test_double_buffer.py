from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.ir.module import module_text
from astile.rewrites.double_buffer import double_buffer
from astile.schedule import recipes
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    assert_proved,
    assert_replays,
    assert_same_results,
    program,
    refused,
    rewritten,
)
from tests.support.staged import assert_emulates, cuda_text

Golden = Callable[[str, str], None]

STEPS = """
def steps(x, y):
    n = len(x)
    for k in {range}:
        {made}
        for i in range(8):
            tile[i] = x[k, i]
        for i in range(8):
            y[i] += tile[7 - i]
"""
EMPTY = "tile = shared.empty(8, np.float64)"


def steps_text(counted: str = "range(n)", made: str = EMPTY) -> str:
    return STEPS.format(range=counted, made=made)


def matrices(n: int) -> tuple[object, ...]:
    return np.arange(n * 8.0).reshape(n, 8), np.full(8, 9.0)


# --- rewrites -----------------------------------------------------------------------------------


def test_a_tile_in_turns(golden: Golden) -> None:
    before = program(steps_text())
    after = rewritten(double_buffer, before, "tile")
    golden("rewrites/double_buffer/steps.py", module_text(after))
    assert_proved(before, after)


@pytest.mark.parametrize(
    ("counted", "index"),
    [
        ("range(2, n)", "tile[k % 2, i]"),
        ("range(1, n)", "tile[(k - 1) % 2, i]"),
        ("range(0, n, 3)", "tile[k // 3 % 2, i]"),
        ("range(n - 1, -1, -1)", "tile[(n - k - 1) % 2, i]"),
    ],
)
def test_turns_are_counted_in_trips(counted: str, index: str) -> None:
    before = program(steps_text(counted))
    after = rewritten(double_buffer, before, "tile")
    assert index in module_text(after)
    assert_proved(before, after)
    assert_same_results(before, after, matrices, (0, 1, 2, 3, 7))


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]


def products(m: int, k: int, n: int) -> tuple[object, ...]:
    a, b = np.arange(m * k) % 7, np.arange(k * n) % 5
    return a.reshape(m, k), b.reshape(k, n), np.full((m, n), 9)


def test_one_barrier_in_each_step_is_enough(golden: Golden) -> None:
    s = Schedule(matmul)
    recipes.tiled_matmul(s, depth=8)
    assert cuda_text(s, products(1, 1, 1)).count("cuda.syncthreads()") == 2
    s.double_buffer("A_shared")
    assert cuda_text(s, products(1, 1, 1)).count("cuda.syncthreads()") == 2
    s.double_buffer("B_shared")
    golden("rewrites/double_buffer/matmul.py", s.source())
    text = cuda_text(s, products(1, 1, 1))
    golden("rewrites/double_buffer/matmul_cuda.py", text)
    assert text.count("cuda.syncthreads()") == 1


# --- refuses ------------------------------------------------------------------------------------


def test_outside_of_all_loops() -> None:
    before = program("""
def f(x):
    tile = local.empty(8, x.dtype)
    for i in range(8):
        tile[i] = x[i]
    for i in range(8):
        x[i] = tile[7 - i]
""")
    error = refused(double_buffer, before, "tile")
    assert error.code == "schedule.no-loop"
    assert "tile is not allocated inside a loop" in str(error)


def test_twice() -> None:
    once = rewritten(double_buffer, program(steps_text()), "tile")
    assert refused(double_buffer, once, "tile").code == "schedule.no-loop"


@pytest.mark.parametrize("kind", ["block.x", "parallel"])
def test_iterations_without_an_order(kind: str) -> None:
    before = program(steps_text().replace("for k in range(n)", f"for k in {kind}(n)"))
    error = refused(double_buffer, before, "tile")
    assert error.code == "schedule.already-bound"
    assert f"the loop over k is {kind}" in str(error)


def test_filled_anew() -> None:
    before = program(steps_text(made="tile = np.zeros(8)"))
    error = refused(double_buffer, before, "tile")
    assert error.code == "schedule.filled"
    assert "zeros" in str(error)


def test_a_shape_that_changes() -> None:
    before = program(steps_text(made="tile = local.empty(k + 8, np.float64)"))
    error = refused(double_buffer, before, "tile")
    assert error.code == "schedule.bad-bounds"
    assert "depends on k, which the loop over k changes" in str(error)


@pytest.mark.parametrize("name", ["x", "y"])
def test_an_argument(name: str) -> None:
    error = refused(double_buffer, program(steps_text()), name)
    assert error.code == "schedule.not-an-intermediate"


def test_no_such_array() -> None:
    error = refused(double_buffer, program(steps_text()), "tiles")
    assert error.code == "schedule.no-such-array"


@pytest.mark.parametrize("use", ["y[0] = np.sum(tile)", "y[0] = tile.shape[0]", "g(tile)"])
def test_used_as_a_whole(use: str) -> None:
    error = refused(double_buffer, program(steps_text() + f"        {use}\n"), "tile")
    assert error.code == "schedule.used-whole"


def test_a_step_that_is_none() -> None:
    error = refused(double_buffer, program(steps_text("range(0, n, n)")), "tile")
    assert error.code == "schedule.not-counted"


def with_leftovers(x, y):
    for k in range(len(x)):
        tile = np.empty(8)
        if k < 3:
            for i in range(8):
                tile[i] = x[k, i]
        for i in range(8):
            y[k, i] = tile[i]


def test_what_is_read_unwritten_may_be_anything() -> None:
    s = Schedule(with_leftovers)
    s.double_buffer("tile")
    assert s.steps[-1].proof.kind == "equal"


# --- keeps meaning ------------------------------------------------------------------------------


def test_steps_at_awkward_sizes() -> None:
    before = program(steps_text())
    assert_same_results(before, rewritten(double_buffer, before, "tile"), matrices, (0, 1, 2, 3, 8))


def test_products_at_awkward_sizes() -> None:
    s = Schedule(matmul)
    recipes.tiled_matmul(s, tile=(4, 8), depth=3)
    s.double_buffer("A_shared")
    s.double_buffer("B_shared")
    at = [(1, 1, 1), (4, 3, 8), (5, 20, 7), (9, 7, 17), (4, 0, 3), (0, 3, 4)]
    assert_emulates(s, products, at)


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(-2, 3), st.sampled_from([1, 2, 3, -1, -2]), st.integers(0, 3))
def test_any_range(first: int, step: int, last: int) -> None:
    counted = f"range({first} + 2, n - {last}, {step})"
    if step < 0:
        counted = f"range(n - {last} - 1, {first}, {step})"
    before = program(steps_text(counted).replace("x[k, i]", "x[abs(k) % 5, i]"))
    after = rewritten(double_buffer, before, "tile")
    assert_same_results(before, after, lambda n: (*matrices(5 + n),), (0, 1, 4))


# --- trace --------------------------------------------------------------------------------------


def test_the_printed_script_replays() -> None:
    s = Schedule(matmul)
    k_0, _ = s.split("k", [None, 8])
    s.cache_read("A", "local", at=k_0)
    s.double_buffer("A_local")
    assert s.steps[-1].call == "double_buffer('A_local')"
    assert_replays(s)
