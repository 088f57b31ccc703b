"""The recipe for matrix units: what it prints and computes, its machine code, what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from astile.errors import LoweringError, ScheduleError
from astile.loops import tf32
from astile.lower.lowered import Lowered
from astile.runtime import emulate, machine_code
from astile.schedule import recipes
from astile.schedule.schedule import Schedule
from tests.support.counted import agree
from tests.support.recipes import half_matmul, half_matrices, on_matrix_units, without_proofs

Golden = Callable[[str, str], None]

TYPES = {"A": "float16", "B": "float16", "C": "float32"}


@cache
def lowered() -> Lowered:
    return on_matrix_units().lowered("cuda", TYPES)


def test_prints(golden: Golden) -> None:
    golden("recipes/matmul_tensor_cores.py", on_matrix_units().source())
    golden("recipes/matmul_tensor_cores_cuda.py", lowered().text)


def test_every_step_is_proved() -> None:
    kinds = [each.proof.kind for each in on_matrix_units().steps if each.proof is not None]
    assert len(kinds) == len(on_matrix_units().steps)
    assert kinds[-1] == "equal up to reassociation"


@pytest.mark.slow
def test_its_trace_replays() -> None:
    s, fresh = on_matrix_units(), Schedule(half_matmul)
    with without_proofs():
        s.trace.apply_to_schedule(fresh)
    assert fresh.source() == s.source()


@pytest.mark.parametrize(
    "size",
    [(128, 96, 128), (128, 0, 128), (0, 32, 128), (1, 1, 1), (16, 16, 8), (9, 33, 40), (5, 0, 3)],
)
def test_is_right_in_the_emulator(size: tuple[int, int, int]) -> None:
    a, b, c = half_matrices(*size)
    report = emulate.EmulationReport()
    emulate.load(lowered().text, lowered().entry, report=report)(a, b, c)
    np.testing.assert_allclose(c, a.astype(float) @ b.astype(float), rtol=1e-5, atol=1e-4)
    assert report.bank_conflicts == 0


@pytest.mark.parametrize("cc", [(8, 0), (9, 0)])
def test_machine_code(cc: tuple[int, int]) -> None:
    try:
        code = machine_code.of(lowered(), half_matrices(256, 256, 256), {}, cc).kernels[0]
    except LoweringError as error:
        pytest.skip(f"no tools for machine code here: {error}")
    mix = code.main_loop
    assert mix["HMMA"] >= 32
    assert code.total_main_loop <= 100
    assert mix["LDSM"] == 12
    assert mix["LDGSTS.128"] == 4
    assert code.stack == code.spill_bytes == 0


# --- operands of float32 that are rounded -------------------------------------------------------


def tf32_matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += tf32(A[i, k]) * tf32(B[k, j])


@cache
def rounded() -> Lowered:
    s = Schedule(tf32_matmul)
    with without_proofs():  # they are those of the product of float16
        recipes.tensor_core_matmul(
            s, tile=(64, 64), depth=16, warps=(2, 2), instruction="mma.m16n8k8.tf32"
        )
    return s.lowered("cuda", dict.fromkeys("ABC", "float32"))


def singles(m: int, k: int, n: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(m + k + n)
    a, b = random.standard_normal((m, k)), random.standard_normal((k, n))
    return a.astype(np.float32), b.astype(np.float32), np.full((m, n), 9, np.float32)


@pytest.mark.parametrize("size", [(64, 48, 64), (64, 0, 64), (5, 3, 7), (64, 17, 64)])
def test_rounded_operands_are_right_in_the_emulator(size: tuple[int, int, int]) -> None:
    a, b, c = singles(*size)
    report = emulate.EmulationReport()
    emulate.load(rounded().text, rounded().entry, report=report)(a, b, c)
    by_cell = np.vectorize(tf32, otypes=[np.float64])
    if size[1]:
        a, b = by_cell(a), by_cell(b)
    np.testing.assert_allclose(c, a.astype(float) @ b.astype(float), rtol=1e-5, atol=1e-4)
    assert report.bank_conflicts == 0


@pytest.mark.parametrize("cc", [(8, 0), (9, 0)])
def test_machine_code_of_rounded_operands(cc: tuple[int, int]) -> None:
    try:
        code = machine_code.of(rounded(), singles(256, 256, 256), {}, cc).kernels[0]
    except LoweringError as error:
        pytest.skip(f"no tools for machine code here: {error}")
    mix = code.main_loop
    assert mix["HMMA"] == 16
    assert mix["LDSM"] == 4
    assert mix["LDS"] == 16
    assert mix["LDGSTS.128"] == 4
    assert code.stack == code.spill_bytes == 0


# --- refuses ------------------------------------------------------------------------------------


def test_an_unknown_instruction() -> None:
    with pytest.raises(ScheduleError, match="no instruction 'tf32'") as caught:
        recipes.tensor_core_matmul(Schedule(tf32_matmul), instruction="tf32")
    assert caught.value.code == "schedule.bad-intrinsic"


@pytest.mark.parametrize(
    "options",
    [{"tile": (120, 128)}, {"tile": (128, 100)}, {"depth": 24}, {"warps": (3, 4)}, {"depth": 0}],
)
def test_tiles_that_the_instruction_does_not_fill(options: dict[str, object]) -> None:
    with pytest.raises(ScheduleError, match="warps of tiles of 16 x 8") as caught:
        recipes.tensor_core_matmul(Schedule(half_matmul), **options)  # type: ignore[arg-type]
    assert caught.value.code == "schedule.bad-factor"


@pytest.mark.slow
def test_counts_of_explain_are_those_of_a_run() -> None:
    s = Schedule(half_matmul)
    with without_proofs():
        recipes.tensor_core_matmul(s, tile=(16, 8), depth=16, warps=(1, 1))
    agree(s.program, dict(zip("ABC", half_matrices(32, 32, 16), strict=True)))
