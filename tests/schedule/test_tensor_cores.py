"""The recipe for matrix units: what it prints and computes, its machine code, what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from astile.errors import LoweringError, ScheduleError
from astile.lower.lowered import Lowered
from astile.runtime import emulate, machine_code
from astile.schedule import recipes
from astile.schedule.schedule import Schedule
from tests.support.recipes import half_matmul, half_matrices, on_matrix_units

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
    fresh = Schedule(half_matmul)
    on_matrix_units().trace.apply_to_schedule(fresh)
    assert fresh.source() == on_matrix_units().source()


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


@pytest.mark.parametrize(
    "options",
    [{"tile": (120, 128)}, {"tile": (128, 100)}, {"depth": 24}, {"warps": (3, 4)}, {"depth": 0}],
)
def test_tiles_that_the_instruction_does_not_fill(options: dict[str, object]) -> None:
    with pytest.raises(ScheduleError, match="warps of tiles of 16 x 8") as caught:
        recipes.tensor_core_matmul(Schedule(half_matmul), **options)  # type: ignore[arg-type]
    assert caught.value.code == "schedule.bad-factor"
