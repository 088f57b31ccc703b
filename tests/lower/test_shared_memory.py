"""More shared memory than 48 KiB: one piece that a launch asks for."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from astile.errors import LoweringError
from astile.intrinsics.plain import SharedMemoryError
from astile.lower import cuda
from astile.lower.lowered import Lowered
from astile.runtime import compile as compiling
from astile.runtime import emulate, machine_code
from tests.support.programs import program_from

GOLDEN = Path(__file__).parents[1] / "golden"
TEXT = """
def turned(x, w, y):
    for b in block.x(len(x)):
        tile = shared.empty(({rows}, 64), np.float64)
        scale = shared.empty((3,), np.float32)
        for i in thread.x(64):
            for k in range({rows}):
                tile[k, i] = x[b, k, i]
            if i < 3:
                scale[i] = w[i]
        for i in thread.x(64):
            for k in range({rows}):
                y[b, k, i] = tile[k, 63 - i] * scale[i % 3]
"""
TYPES = {"x": "float64", "w": "float32", "y": "float64"}


def lowered(rows: int, *, plain: bool = False) -> Lowered:
    return cuda.lower(program_from(TEXT.format(rows=rows)), types=TYPES, plain=plain)


def arguments(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = np.arange(2.0 * rows * 64).reshape(2, rows, 64)
    return x, np.array([1, 2, 4], np.float32), np.zeros_like(x)


# --- the text -----------------------------------------------------------------------------------


def test_arrays_lie_in_one_piece(golden: Callable[[str, str], None]) -> None:
    golden("lower/shared_memory_cuda.py", lowered(100).text)


def test_what_fits_is_allocated_as_ever() -> None:
    made = lowered(95)
    assert "cuda.shared.array((95, 64), np.float64)" in made.text
    assert "shared_memory" not in made.text
    assert made.kernels[0].shared_bytes == 95 * 64 * 8 + 12


def test_the_simulator_gives_all_that_is_asked_for() -> None:
    assert "cuda.shared.array((100, 64), np.float64)" in lowered(100, plain=True).text


def test_the_size_of_the_piece_is_known() -> None:
    assert lowered(100).kernels[0].shared_bytes == 100 * 64 * 8 + 16


def test_more_than_any_gpu_gives_is_refused() -> None:
    lowered(453)
    with pytest.raises(LoweringError, match="232464 bytes of shared memory") as caught:
        lowered(454)
    assert caught.value.code == "lowering.shared-memory"
    assert "tile takes 232448 bytes" in caught.value.diagnostic.notes


# --- values -------------------------------------------------------------------------------------


def test_values_in_the_emulator() -> None:
    x, w, y = arguments(100)
    made, report = lowered(100), emulate.EmulationReport()
    emulate.load(made.text, made.entry, report=report)(x, w, y)
    np.testing.assert_array_equal(y, x[:, :, ::-1] * w[np.arange(64) % 3])
    assert report.launches[0].shared_bytes == 100 * 64 * 8 + 16


def test_the_emulator_has_the_limit_of_its_device() -> None:
    made = lowered(100)
    small = emulate.load(made.text, made.entry, limits=emulate.Limits(shared=50000))
    with pytest.raises(emulate.LimitError, match="51216 bytes of dynamic shared memory"):
        small(*arguments(100))


def changed(old: str, new: str) -> Callable[..., object]:
    text = lowered(100).text
    assert old in text
    return emulate.load(text.replace(old, new), "turned")


def test_a_kernel_that_did_not_ask_is_refused() -> None:
    with pytest.raises(emulate.LimitError, match="the kernel asked for 0"):
        changed("@with_shared_memory(51216)\n", "")(*arguments(100))


def test_a_piece_that_is_too_short_is_refused() -> None:
    with pytest.raises(emulate.LimitError, match="scale ends at byte 51212 of the 51200"):
        changed(", 0, 51216]", ", 0, 51200]")(*arguments(100))


def test_arrays_in_the_same_place_are_refused() -> None:
    with pytest.raises(emulate.EmulationError, match="scale and tile lie in the same"):
        changed("np.float32, 51200)", "np.float32, 51184)")(*arguments(100))


# --- machine code -------------------------------------------------------------------------------


def code(text: str, given: tuple[np.ndarray, ...], cc: tuple[int, int]) -> machine_code.KernelCode:
    """The first kernel of a text, whose entry is its last function."""
    entry = text.rpartition("\ndef ")[2].partition("(")[0]
    try:
        return machine_code.of(Lowered(text, entry, "cuda"), given, {}, cc).kernels[0]
    except LoweringError as error:
        if error.code != "lowering.missing":
            raise
        pytest.skip(str(error.diagnostic.notes))


def code_of(rows: int, cc: tuple[int, int]) -> machine_code.KernelCode:
    return code(lowered(rows).text, arguments(rows), cc)


@pytest.mark.parametrize("cc", [(8, 0), (9, 0)])
def test_machine_code_is_that_of_arrays_of_their_own(cc: tuple[int, int]) -> None:
    text = (GOLDEN / "recipes" / "matmul_registers_cuda.py").read_text(encoding="utf-8")
    pattern = r"cuda\.shared\.array\((\([^)]*\)), np\.float32, alignment=16\)"
    first, second = re.findall(pattern, text)
    piece = text
    for shape, offset in ((first, 0), (second, 8192)):
        other = f"shared_array({shape}, np.float32, {offset})"
        piece = re.sub(pattern, other, piece, count=1)
    head = "from astile.intrinsics.shared_memory import shared_array\n"
    x = np.zeros((256, 256), np.float32)
    apart, together = (code(each, (x, x, x), cc) for each in (text, head + piece))
    assert together.total_main_loop <= apart.total_main_loop + 1
    assert together.registers <= apart.registers
    for name in ("FFMA", "LDS.128", "STS.128", "LDG.128"):
        assert together.main_loop.get(name) == apart.main_loop.get(name)
    assert (together.stack, together.spill_bytes) == (0, 0)


@pytest.mark.parametrize("cc", [(8, 0), (9, 0)])
def test_a_large_piece_counts(cc: tuple[int, int]) -> None:
    found = code_of(160, cc)
    assert found.shared_bytes == 160 * 64 * 8 + 16
    assert (found.stack, found.spill_bytes) == (0, 0)
    assert found.occupancy.limited_by == "shared memory"


def test_a_capability_that_gives_less_is_refused() -> None:
    with pytest.raises(LoweringError, match="204816 bytes of shared memory") as caught:
        code_of(400, (8, 0))
    assert caught.value.code == "lowering.shared-memory"
    assert code_of(400, (9, 0)).shared_bytes == 400 * 64 * 8 + 16


# --- launches -----------------------------------------------------------------------------------


def asked_of(gives: int, monkeypatch: pytest.MonkeyPatch) -> tuple[list[object], list[object]]:
    """What the driver is asked, and what is launched, where a kernel is launched twice."""
    if not compiling.cuda_importable():
        pytest.skip("numba.cuda does not import here")
    from astile.intrinsics import shared_memory

    asked: list[object] = []
    launched: list[object] = []
    device = SimpleNamespace(id=3, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=gives)
    monkeypatch.setattr(shared_memory, "get_context", lambda: SimpleNamespace(device=device))
    driver = SimpleNamespace(cuKernelSetAttribute=lambda *each: asked.append(each))
    monkeypatch.setattr(shared_memory.driver, "driver", driver)
    library = SimpleNamespace(get_cufunc=lambda: SimpleNamespace(handle="handle"))
    made = SimpleNamespace(_codelibrary=library, launch=lambda *each: launched.append(each))
    kernel = SimpleNamespace(compile=lambda types: made)
    assert shared_memory.with_shared_memory(51216)(kernel) is kernel
    ready = kernel.compile("types")
    ready.launch("arguments")
    ready.launch("arguments")
    return asked, launched


def test_a_kernel_asks_before_it_is_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, launched = asked_of(232448, monkeypatch)
    assert [each[1:] for each in asked] == [(51216, "handle", 3)]
    assert "MAX_DYNAMIC_SHARED_SIZE_BYTES" in str(asked[0][0])
    assert launched == [("arguments",)] * 2


def test_a_gpu_that_gives_less_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SharedMemoryError, match=r"51216 bytes of shared memory .* gives 49152"):
        asked_of(49152, monkeypatch)
