"""Barriers: where they stand, what they say, that none is missing and none superfluous."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from astile.analysis.concurrency.conflicts import KernelConflicts
from astile.analysis.reading.scene import Scene
from astile.errors import LoweringError
from astile.lower import cuda
from astile.lower.kernels import barriers, fences
from astile.lower.kernels.barrier_proof import BarrierProof
from astile.lower.kernels.plan import FixedPlan
from astile.runtime import emulate
from astile.runtime.emulate import RaceError
from tests.support import race_trace
from tests.support.programs import program_from
from tests.support.race_programs import SHAPES, orderly_program

MATMUL = """
def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i_0 in block.y((M + 3) // 4):
        for j_0 in block.x((N + 3) // 4):
            As = shared.empty((4, 4), np.float32)
            Bs = shared.empty((4, 4), np.float32)
            acc = local.empty((4, 4), np.float32)
            for i_1 in thread.y(4):
                for j_1 in thread.x(4):
                    acc[i_1, j_1] = 0.0
            for k_0 in range((K + 3) // 4):
                for i_1 in thread.y(4):
                    for j_1 in thread.x(4):
                        if i_0 * 4 + i_1 < M and k_0 * 4 + j_1 < K:
                            As[i_1, j_1] = A[i_0 * 4 + i_1, k_0 * 4 + j_1]
                        if k_0 * 4 + i_1 < K and j_0 * 4 + j_1 < N:
                            Bs[i_1, j_1] = B[k_0 * 4 + i_1, j_0 * 4 + j_1]
                for i_1 in thread.y(4):
                    for j_1 in thread.x(4):
                        for k_1 in range(4):
                            if i_0 * 4 + i_1 < M and j_0 * 4 + j_1 < N and k_0 * 4 + k_1 < K:
                                acc[i_1, j_1] += As[i_1, k_1] * Bs[k_1, j_1]
            for i_1 in thread.y(4):
                for j_1 in thread.x(4):
                    if i_0 * 4 + i_1 < M and j_0 * 4 + j_1 < N:
                        C[i_0 * 4 + i_1, j_0 * 4 + j_1] = acc[i_1, j_1]
"""

CONV_ADD = """
def conv_add(x, w, bias, out):
    H, W = out.shape
    for i_0 in block.y((H + 15) // 16):
        for j_0 in block.x((W + 15) // 16):
            conv = shared.empty((16, 16), np.float32)
            for i_1 in thread.y(16):
                for j_1 in thread.x(16):
                    if i_0 * 16 + i_1 < H and j_0 * 16 + j_1 < W:
                        acc = 0.0
                        for a in range(3):
                            for b in range(3):
                                acc += x[i_0 * 16 + i_1 + a, j_0 * 16 + j_1 + b] * w[a, b]
                        conv[i_1, j_1] = acc
            for i_1 in thread.y(16):
                for j_1 in thread.x(16):
                    if i_0 * 16 + i_1 < H and j_0 * 16 + j_1 < W:
                        out[i_0 * 16 + i_1, j_0 * 16 + j_1] = CONV + bias[i_1, j_1]
"""

HALO = """
def blur(x, out):
    n = out.shape[0]
    for b in block.x((n + 15) // 16):
        t = shared.empty((18,), np.float32)
        for i in thread.x(18):
            if b * 16 + i < x.shape[0]:
                t[i] = x[b * 16 + i]
        for i in thread.x(16):
            if b * 16 + i < n:
                out[b * 16 + i] = t[i] + t[i + 1] + t[i + 2]
"""

ROW_0 = """
def rows(x, out):
    for b in block.x(x.shape[0]):
        tile = shared.empty((32,), np.float32)
        for i in thread.AXIS_0(1):
            for j in thread.AXIS_1(32):
                tile[j] = x[b, j]
        for i in thread.AXIS_0(8):
            for j in thread.AXIS_1(32):
                out[b, i, j] = tile[j]
"""


def places(text: str) -> tuple[list[int], list[int]]:
    """Lines of the statements before which barriers stand, and of the loops they end."""
    found = barriers.derive(program_from(text))
    before = [each.place.before.lineno for each in found if each.place.before is not None]
    at_end = [each.place.holder.lineno for each in found if each.place.before is None]
    return before, at_end


def comments(text: str) -> list[str]:
    return [each.comment for each in barriers.derive(program_from(text))]


# --- where they stand ---------------------------------------------------------------------------


def test_tiled_matmul_has_two_barriers() -> None:
    assert places(MATMUL) == ([19], [12])
    plan = barriers.find(program_from(MATMUL))
    assert list(plan.before.values()) == [
        "As and Bs, written by thread (i_1, j_1) above, are read by other threads below"
    ]
    assert list(plan.at_end.values()) == [
        "As and Bs, read by thread (i_1, j_1) above, are overwritten by other threads in the "
        "next k_0"
    ]


def test_cells_of_the_same_thread_need_no_barrier() -> None:
    assert places(CONV_ADD.replace("CONV", "conv[i_1, j_1]")) == ([], [])


def test_conv_read_transposed_needs_one_barrier() -> None:
    text = CONV_ADD.replace("CONV", "conv[j_1, i_1]")
    assert places(text) == ([14], [])


def test_halo_of_18_threads_read_by_16() -> None:
    assert places(HALO) == ([8], [])
    assert comments(HALO) == ["t, written by thread (i) above, is read by other threads below"]


@pytest.mark.parametrize("axes", [("x", "y"), ("y", "x")])
def test_a_tile_written_by_one_row_and_read_by_all(axes: tuple[str, str]) -> None:
    """TVM compares the innermost thread index only, and places none here."""
    text = ROW_0.replace("AXIS_0", axes[0]).replace("AXIS_1", axes[1])
    assert places(text) == ([7], [])


def test_a_row_written_by_the_threads_that_read_it_needs_none() -> None:
    text = ROW_0.replace("AXIS_0", "y").replace("AXIS_1", "x").replace("(8)", "(1)")
    assert places(text) == ([], [])


@pytest.mark.parametrize(("read", "expected"), [("t[i - 1]", []), ("t[i]", [6])])
def test_threads_are_compared_and_not_loop_variables(read: str, expected: list[int]) -> None:
    """A loop from 1 runs on thread 0 first: loopy lost this barrier by comparing variables."""
    text = f"""
def shifted(x, out):
    for b in block.x(x.shape[0]):
        t = shared.empty((16,), np.float32)
        for i in thread.x(16):
            t[i] = x[b, i]
        for i in thread.x(1, 17):
            out[b, i - 1] = {read}
"""
    text = text.replace("t[i]\n", "t[i % 16]\n")
    assert places(text) == (expected, [])


def test_a_statement_outside_thread_loops_runs_on_the_first_thread() -> None:
    text = """
def first(x, out):
    for b in block.x(x.shape[0]):
        t = shared.empty((2,), np.float32)
        t[0] = x[b, 0]
        for i in thread.x(16):
            out[b, i] = t[0]
"""
    assert places(text) == ([5], [])
    assert comments(text) == ["t, written by thread 0 above, is read by other threads below"]


def test_cells_that_lanes_may_share_are_not_said_to_be_read_by_one_thread() -> None:
    text = """
def first(x, out):
    for b in block.x(x.shape[0]):
        t = shared.empty((64,), np.float32)
        for k in range(2):
            for i in thread.x(64):
                t[i] = x[b, k * 64 + i]
            for j in range(64):
                out[b] += t[j]
"""
    assert comments(text) == [
        "t, written by thread (i) above, is read by other threads below",
        "t, read by the first warp above, is overwritten by other threads in the next k",
    ]


def test_a_phase_without_an_axis_runs_on_its_first_thread() -> None:
    text = """
def column(x, out):
    for b in block.x(x.shape[0]):
        t = shared.empty((8,), np.float32)
        for i in thread.y(8):
            t[i] = x[b, i]
        for i in thread.y(8):
            for j in thread.x(4):
                out[b, i, j] = t[i]
"""
    assert places(text) == ([6], [])


def test_names_are_computed_by_every_thread() -> None:
    text = """
def scaled(x, out):
    for b in block.x(x.shape[0]):
        s = x[b, 0] * 2.0
        for i in thread.x(16):
            out[b, i] = s
"""
    assert places(text) == ([], [])


def test_a_name_computed_from_shared_memory_waits_for_it() -> None:
    text = """
def total(x, out):
    for b in block.x(x.shape[0]):
        t = shared.empty((16,), np.float32)
        for i in thread.x(16):
            t[i] = x[b, i]
        s = t[0] + t[1]
        for i in thread.x(16):
            out[b, i] = s
"""
    assert places(text) == ([6], [])


def test_global_memory_is_ordered_too() -> None:
    text = """
def through(x, g, out):
    for b in block.x(x.shape[0]):
        for i in thread.x(16):
            g[b, i] = x[b, i]
        for i in thread.x(16):
            out[b, i] = g[b, 15 - i]
"""
    assert places(text) == ([5], [])


def test_one_barrier_serves_several_conflicts() -> None:
    text = """
def several(x, out):
    for b in block.x(x.shape[0]):
        s = shared.empty((16,), np.float32)
        t = shared.empty((16,), np.float32)
        for i in thread.x(16):
            s[i] = x[b, i]
        for i in thread.x(16):
            t[i] = x[b, i]
        for i in thread.x(16):
            out[b, i] = s[15 - i] + t[15 - i]
"""
    assert places(text) == ([9], [])


def test_a_barrier_outside_a_loop_is_cheaper_than_one_inside() -> None:
    text = """
def once(x, out):
    for b in block.x(x.shape[0]):
        s = shared.empty((16,), np.float32)
        for i in thread.x(16):
            s[i] = x[b, i]
        for k in range(4):
            for i in thread.x(16):
                out[b, k, i] = s[15 - i]
"""
    assert places(text) == ([6], [])


def test_loops_counting_down_wrap_around_too() -> None:
    text = """
def down(x, out):
    n = x.shape[0]
    for b in block.x(4):
        s = shared.empty((16,), np.float32)
        for k in range(n - 1, -1, -1):
            for i in thread.x(16):
                s[i] = x[k, i]
            for i in thread.x(16):
                out[b, k, i] = s[15 - i]
"""
    assert places(text) == ([8], [5])


def test_a_uniform_condition_may_hold_a_barrier() -> None:
    text = """
def some(x, out):
    for b in block.x(x.shape[0]):
        s = shared.empty((16,), np.float32)
        if b > 2:
            for i in thread.x(16):
                s[i] = x[b, i]
            for i in thread.x(16):
                out[b, i] = s[15 - i]
"""
    assert places(text) == ([7], [])


def test_a_loop_that_may_run_no_trip_cannot_hold_the_only_barrier() -> None:
    text = """
def maybe(x, out, n):
    for b in block.x(x.shape[0]):
        s = shared.empty((16,), np.float32)
        for i in thread.x(16):
            s[i] = x[b, i]
        for k in range(n):
            for i in thread.x(16):
                out[b, i, k] = s[15 - i]
        for i in thread.x(16):
            s[i] = out[b, 15 - i, 0]
"""
    before, at_end = places(text)
    assert before == [6, 9]
    assert at_end == []


# --- refusals and fallbacks ---------------------------------------------------------------------


def test_threads_that_meet_inside_one_phase_are_refused() -> None:
    text = """
def inside(x, out):
    for b in block.x(x.shape[0]):
        t = shared.empty((16,), np.float32)
        for i in thread.x(16):
            t[i] = x[b, i]
            out[b, i] = t[15 - i]
"""
    with pytest.raises(LoweringError) as caught:
        barriers.find(program_from(text))
    text_of_error = str(caught.value)
    assert "threads of one block meet on t where no barrier can stand" in text_of_error
    assert "kernel.py:5:13" in text_of_error
    assert "kernel.py:6:13" in text_of_error
    assert "distribute the loops over threads" in text_of_error


def test_a_sequential_loop_between_thread_loops_holds_no_barrier() -> None:
    text = """
def between(x, out):
    for b in block.x(x.shape[0]):
        t = shared.empty((16,), np.float32)
        for i in thread.y(4):
            for k in range(4):
                for j in thread.x(4):
                    t[4 * i + (j + k) % 4] = x[b, j]
"""
    with pytest.raises(LoweringError, match="meet on t where no barrier can stand"):
        barriers.find(program_from(text))


def test_a_program_that_cannot_be_read_gets_the_conservative_plan() -> None:
    text = """
def view(x, out):
    row = x[0]
    for b in block.x(4):
        t = shared.empty((16,), np.float32)
        for i in thread.x(16):
            t[i] = row[i]
        for i in thread.x(16):
            out[b, i] = t[i]
"""
    program = program_from(text)
    assert barriers.find(program).before == fences.find(program).before
    assert len(barriers.find(program).before) == 1


def test_unknown_cells_are_taken_to_meet() -> None:
    text = """
def gather(x, idx, out):
    for b in block.x(4):
        t = shared.empty((16,), np.float32)
        for i in thread.x(16):
            t[i] = x[b, i]
        for i in thread.x(16):
            out[b, i] = t[idx[i]]
"""
    assert places(text) == ([6], [])


# --- none is missing, none superfluous ----------------------------------------------------------


def test_the_proof_reports_a_missing_second_barrier() -> None:
    scene = Scene(program_from(MATMUL))
    crossing = KernelConflicts(scene, scene.kernels[0]).between_phases
    chosen = [each.place for each in barriers.derive(scene.program)]
    first = next(each for each in chosen if each.before is not None)
    missing = BarrierProof(scene, crossing).uncut([first])
    assert missing is not None
    assert missing.kind == "anti"
    assert missing.carrier is not None


@pytest.mark.parametrize("which", ["before", "at_end"])
def test_the_emulator_complains_without_either_barrier(which: str) -> None:
    program = program_from(MATMUL)
    plan = barriers.find(program)
    left = FixedPlan(
        {} if which == "before" else plan.before, {} if which == "at_end" else plan.at_end
    )
    types = dict.fromkeys("ABC", "float32")
    first = np.arange(35, dtype=np.float32).reshape(5, 7)
    second = np.arange(42, dtype=np.float32).reshape(7, 6)

    def run(finder: object) -> np.ndarray:
        lowered = cuda.lower(program, types=types, barriers=finder)  # type: ignore[arg-type]
        result = np.zeros((5, 6), np.float32)
        emulate.load(lowered.text, lowered.entry)(first, second, result)
        return result

    np.testing.assert_array_equal(run(barriers.find), first @ second)
    with pytest.raises(RaceError):
        run(lambda _: left)


@pytest.mark.parametrize("seed", range(30))
def test_random_kernels_need_every_barrier_and_no_other(seed: int) -> None:
    text = orderly_program(Random(seed))
    before, at_end = places(text)

    def clashes(before: list[int], at_end: list[int]) -> bool:
        events = (
            race_trace.trace(text, {**SHAPES, "n": n}, before, at_end) for n in (0, 1, 2, 3, 5)
        )
        return any(race_trace.unordered(each) for each in events)

    assert not clashes(before, at_end)
    for line in before:
        assert clashes([each for each in before if each != line], at_end), line
    for line in at_end:
        assert clashes(before, [each for each in at_end if each != line]), line
