from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule
from astile.ir.module import module_text
from astile.rewrites.pipeline import pipeline
from astile.schedule import recipes
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    program,
    refused,
    rewritten,
)
from tests.support.recipes import matmul, matrices
from tests.support.staged import assert_emulates, cuda_text

Golden = Callable[[str, str], None]

STEPS = """
def steps(x, y):
    n = len(x)
    for k in {range}:
        {made}
        for i in range(8):
            {load}
        for i in range(8):
            {use}
"""
EMPTY = "tile = shared.empty(8, np.float64)"


def steps_text(
    counted: str = "range(n)",
    made: str = EMPTY,
    load: str = "tile[i] = x[k, i]",
    use: str = "y[i] += tile[7 - i]",
) -> str:
    return STEPS.format(range=counted, made=made, load=load, use=use)


def arrays(n: int) -> tuple[object, ...]:
    return np.arange(n * 8.0).reshape(n, 8), np.full(8, 9.0)


def product(depth: int, tile: tuple[int, int], stages: int) -> Schedule:
    s = Schedule(matmul)
    recipes.tiled_matmul(s, depth=depth, tile=tile, stages=stages)
    return s


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize("stages", [2, 3])
def test_loads_run_ahead(golden: Golden, stages: int) -> None:
    before = program(steps_text())
    after = rewritten(pipeline, before, loop(before, "k"), stages)
    golden(f"rewrites/pipeline/steps_{stages}.py", module_text(after))
    assert_proved(before, after)


def test_any_step_and_start() -> None:
    for counted, stop in (
        ("range(2, n)", "range(2, min(n, 3))"),
        ("range(n - 1, -1, -1)", "range(n - 1, max(-1, n - 2), -1)"),
        ("range(0, n, 3)", "range(0, min(n, 3), 3)"),
        ("range(5)", "range(1)"),
    ):
        before = program(steps_text(counted))
        after = rewritten(pipeline, before, loop(before, "k"))
        assert f"for k in {stop}:" in module_text(after)
        assert_proved(before, after)


def test_a_tile_that_no_load_fills_has_no_slots() -> None:
    text = steps_text(use="y[i] += tile[7 - i]\n            twice[i] = y[i]")
    before = program(text.replace(EMPTY, f"{EMPTY}\n        twice = np.empty(8)"))
    after = rewritten(pipeline, before, loop(before, "k"))
    assert "tile = shared.empty((2, 8), np.float64)\n    twice = np.empty(8" in module_text(after)
    assert_proved(before, after)


def test_copies_of_inner_tiles_have_names_of_their_own() -> None:
    lines = "row = local.empty(1, np.float64)", "row[0] = tile[7 - i]", "y[i] += row[0]"
    use = "\n            ".join(lines)
    before = program(steps_text(use=use))
    after = rewritten(pipeline, before, loop(before, "k"))
    assert "row_1 = local.empty(1, np.float64)" in module_text(after)
    assert_proved(before, after)
    assert_same_results(before, after, arrays, (0, 1, 4))


def test_one_barrier_for_each_step_of_a_product(golden: Golden) -> None:
    s = product(8, (16, 16), 2)
    golden("rewrites/pipeline/matmul.py", s.source())
    text = cuda_text(s, matrices(1, 1, 1))
    golden("rewrites/pipeline/matmul_cuda.py", text)
    assert text.count("cuda.syncthreads()") == 2  # in the steady state, and before the epilogue


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("stages", [1, 0, -2])
def test_too_few_stages(stages: int) -> None:
    before = program(steps_text())
    error = refused(pipeline, before, loop(before, "k"), stages)
    assert error.code == "schedule.bad-factor"
    assert "2 at least" in str(error)


@pytest.mark.parametrize("stages", [2.0, "two", True, None])
def test_stages_that_are_no_number(stages: object) -> None:
    before = program(steps_text())
    assert refused(pipeline, before, loop(before, "k"), stages).code == "schedule.bad-factor"


def test_fewer_iterations_than_stages() -> None:
    before = program(steps_text("range(2)"))
    error = refused(pipeline, before, loop(before, "k"), 3)
    assert "the loop over k has only 2 iterations" in str(error)


@pytest.mark.parametrize("kind", ["block.x", "thread.x", "parallel", "vector"])
def test_iterations_without_an_order(kind: str) -> None:
    before = program(steps_text(f"{kind}(n)"))
    error = refused(pipeline, before, loop(before, "k"))
    assert error.code == "schedule.already-bound"


def test_nothing_is_staged() -> None:
    before = program(steps_text().replace(EMPTY, "pass").replace("tile", "x"))
    error = refused(pipeline, before, loop(before, "k"))
    assert error.code == "schedule.no-stage"
    assert "nothing in the loop over k fills a tile of it" in str(error)
    assert "cache_read" in str(error)


def test_nothing_is_computed() -> None:
    before = program(steps_text(use="tile[i] = x[k, 7 - i]"))
    error = refused(pipeline, before, loop(before, "k"))
    assert "nothing in the loop over k computes from its tiles" in str(error)


def test_a_tile_that_is_filled_where_it_is_made() -> None:
    before = program(steps_text(made="tile = np.zeros(8)"))
    assert refused(pipeline, before, loop(before, "k")).code == "schedule.filled"


def test_a_shape_that_changes() -> None:
    before = program(steps_text(made="tile = local.empty(k + 8, np.float64)"))
    assert refused(pipeline, before, loop(before, "k")).code == "schedule.bad-bounds"


def test_a_loop_that_may_be_left() -> None:
    before = program(steps_text() + "        if y[0] > 3:\n            break\n")
    assert refused(pipeline, before, loop(before, "k")).code == "schedule.not-counted"


def carried(x, y):
    for k in range(1, len(x)):
        tile = np.empty(8)
        for i in range(8):
            tile[i] = x[k - 1, i]
        for i in range(8):
            x[k, i] = tile[7 - i] + y[i]


def test_loads_of_what_the_iteration_before_computes() -> None:
    s = Schedule(carried)
    with pytest.raises(IllegalSchedule) as caught:
        s.pipeline("k")
    assert caught.value.array == "x"
    assert s.steps == ()


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("stages", [2, 4])
def test_steps_at_awkward_sizes(stages: int) -> None:
    before = program(steps_text())
    after = rewritten(pipeline, before, loop(before, "k"), stages)
    assert_same_results(before, after, arrays, (0, 1, 2, 3, 4, 5, 9))


def test_products_at_awkward_sizes() -> None:
    at = [(1, 1, 1), (4, 3, 8), (5, 20, 7), (9, 7, 9), (4, 0, 3), (0, 3, 4)]
    assert_emulates(product(3, (4, 8), 3), matrices, at)


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(st.integers(-2, 3), st.sampled_from([1, 2, 3, -1, -2]), st.integers(0, 3), st.integers(2, 4))
def test_any_range(first: int, step: int, last: int, stages: int) -> None:
    counted = f"range({first} + 2, n - {last}, {step})"
    if step < 0:
        counted = f"range(n - {last} - 1, {first}, {step})"
    before = program(steps_text(counted, load="tile[i] = x[abs(k) % 5, i]"))
    after = rewritten(pipeline, before, loop(before, "k"), stages)
    assert_same_results(before, after, lambda n: arrays(5 + n), (0, 1, 4))


# --- trace --------------------------------------------------------------------------------------


def test_the_printed_script_replays() -> None:
    s = Schedule(matmul)
    k_0, _ = s.split("k", [None, 8])
    s.cache_read("A", "local", at=k_0)
    s.pipeline(k_0, 3)
    assert s.steps[-1].call == "pipeline('k_0', 3)"
    assert_replays(s)
