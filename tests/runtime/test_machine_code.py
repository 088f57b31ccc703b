"""Kernels compiled to machine code, as `cuda.jit` does it: registers, spills, loops."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from astile import Schedule, tile
from astile.analysis.counts import sass
from astile.errors import LoweringError
from astile.lower.lowered import Lowered
from astile.runtime import compile as compiling
from astile.runtime import cubin, kernel_lines, load, machine_code, recording

GOLDEN = Path(__file__).parents[1] / "golden" / "recipes"
SQUARE = np.zeros((256, 256), np.float32)


def code_of(name: str, *arguments: object) -> machine_code.KernelCode:
    """The first kernel of the text of a recipe."""
    text = (GOLDEN / f"{name}_cuda.py").read_text(encoding="utf-8")
    entry = text.rpartition("\ndef ")[2].partition("(")[0]
    try:
        return machine_code.of(Lowered(text, entry, "cuda"), arguments, {}, (9, 0)).kernels[0]
    except LoweringError as error:
        pytest.skip(str(error.diagnostic.notes))


def test_the_main_loop_of_a_product_multiplies() -> None:
    code = code_of("matmul_registers", SQUARE, SQUARE.copy(), SQUARE.copy())
    mix, total = code.main_loop, code.total_main_loop
    assert mix["FFMA"] == 512
    assert mix["FFMA"] >= 0.9 * total
    assert mix["LDS.128"] == 32
    assert mix["LDG.128"] == 2
    assert sass.overhead(dict(mix)) <= 20
    assert code.registers <= 128
    assert (code.stack, code.spill_bytes) == (0, 0)
    assert code.loop == "for k_0 in range(int32(K // 8))"
    assert code.occupancy.limited_by == "registers"


def doubled(x, y):
    for i in range(len(x)):
        y[i] = x[i] * 2


def test_a_kernel_tells_its_machine_code() -> None:
    def bind(s: Schedule) -> None:
        i_0, i_1 = s.split("i", [None, 64])
        s.bind(i_0, "blockIdx.x")
        s.bind(i_1, "threadIdx.x")

    kernel = tile(schedule=bind, target="cuda")(doubled)
    x = np.zeros(1000, np.float32)
    try:
        found = kernel.sass(x, x.copy(), cc=(8, 0))
    except LoweringError as error:
        pytest.skip(str(error.diagnostic.notes))
    [code] = found.kernels
    assert json.loads(json.dumps(code.to_dict())) == {
        "kernel": "doubled_kernel",
        "cc": "sm_80",
        "registers": code.registers,
        "stack": 0,
        "spill_bytes": 0,
        "shared_bytes": 0,
        "main_loop": {},
        "total_main_loop": 0,
    }
    assert 0 < code.registers < 32
    assert code.occupancy.share == 1.0
    assert "doubled_kernel" in str(found)


IN_MEMORY = """
from numba import cuda, float32, uint32

@cuda.jit
def shifted_kernel(x, y, n):
    kept = cuda.local.array(64, float32)
    for i in range(uint32(64)):
        kept[i] = x[i]
    for i in range(n):
        y[i] = kept[(i * uint32(7)) % uint32(64)]

def shifted(x, y):
    shifted_kernel[1, 1](x, y, x.shape[0])
"""


def test_what_is_in_memory_is_warned_of() -> None:
    x = np.zeros(64, np.float32)
    lowered = Lowered(IN_MEMORY, "shifted", "cuda")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        try:
            [code] = machine_code.of(lowered, (x, x.copy()), {}, (9, 0)).kernels
        except LoweringError as error:
            pytest.skip(str(error.diagnostic.notes))
    assert code.in_memory()
    assert code.spill_bytes == 256
    assert any("shifted_kernel: 256 bytes of each thread" in str(e.message) for e in caught)


HALVES = """
from numba import cuda, uint32

@cuda.jit
def squared_kernel(x, y):
    i = uint32(cuda.threadIdx.x)
    y[i] = max(x[i] * x[i], y[i])

def squared(x, y):
    squared_kernel[1, 8](x, y)
"""


def test_what_cannot_be_linked_with_lines_is_linked_without() -> None:
    x = np.zeros(8, np.float16)
    try:
        found = machine_code.of(Lowered(HALVES, "squared", "cuda"), (x, x.copy()), {}, (8, 0))
    except LoweringError as error:
        if error.code != "lowering.missing":
            raise
        pytest.skip(str(error.diagnostic.notes))
    assert found.kernels[0].registers > 0


@pytest.mark.parametrize("name", ["nvJitLinkError", "nvvmError"])
def test_loaded_kernels_are_compiled_without_lines_where_they_have_to(name: str) -> None:
    if not compiling.cuda_importable():
        pytest.skip("numba.cuda does not import here")
    function = load.load(IN_MEMORY, "shifted", ("cuda", name))
    kernel = function.__globals__["shifted_kernel"]
    tried: list[object] = []

    made = SimpleNamespace(regs_per_thread=1, local_mem_per_thread=0)

    def refusing(signature: object) -> object:
        tried.append(kernel.targetoptions["lineinfo"])
        if tried[-1]:
            raise type(name, (Exception,), {})("Symbol name with unsupported characters")
        return made

    kernel.compile = refusing
    compiling.prepare_kernels(function, {"shifted_kernel": 1})
    assert kernel.compile("signature") is made
    assert tried == [True, False]


def test_what_cannot_be_compiled_either_way_is_told() -> None:
    if not compiling.cuda_importable():
        pytest.skip("numba.cuda does not import here")

    def refused(has_lines: bool) -> None:
        raise type("nvvmError", (Exception,), {})("ERROR_COMPILATION (9)")

    with (
        pytest.raises(LoweringError, match="numba cannot compile") as caught,
        compiling.retelling("cuda", "", None),
    ):
        kernel_lines.with_or_without(refused)
    assert caught.value.code == "lowering.compile"
    assert "ERROR_COMPILATION (9)" in str(caught.value.diagnostic.notes)


def test_launches_are_noted_with_their_types() -> None:
    try:
        found = recording.launches(IN_MEMORY, "shifted", (SQUARE[0], SQUARE[:, 0]), {})
    except (ImportError, RuntimeError) as error:
        pytest.skip(str(error))
    assert [(e.name, e.block, e.signature) for e in found] == [
        ("shifted_kernel", (1, 1, 1), ("float32[::1]", "float32[:]", "int64"))
    ]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cubin.compiling, "why_no_cuda", lambda: "no such library: libnvvm")
    with pytest.raises(LoweringError, match="machine code cannot be made here") as caught:
        cubin.disassembly(b"")
    assert "libnvvm" in str(caught.value.diagnostic.notes)
    assert "pip install" in str(caught.value.diagnostic.hints)


def test_the_numba_cuda_inside_of_numba_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cubin, "_module", lambda name: SimpleNamespace(__name__=name))
    with pytest.raises(LoweringError, match="machine code cannot be made here") as caught:
        cubin.cubin(SimpleNamespace(py_func=len), (), (9, 0))
    assert "numba-cuda is not installed" in str(caught.value.diagnostic.notes)


def test_loaded_kernels_keep_their_lines_and_fit_a_block() -> None:
    if not compiling.cuda_importable():
        pytest.skip("numba.cuda does not import here")
    function = load.load(IN_MEMORY, "shifted", ("cuda", "options"))
    compiling.prepare_kernels(function, {"shifted_kernel": 256, "absent": 1})
    kernel = function.__globals__["shifted_kernel"]
    assert kernel.targetoptions["lineinfo"] is True
    assert kernel.targetoptions["launch_bounds"] == 256
