"""The CUDA texts in numba's own tools: its compiler without a GPU, and its simulator."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from types import ModuleType

import pytest

from astile.lower import cuda
from astile.lower.kernels import barriers, fences
from astile.lower.kernels.plan import Finder
from tests.support.scheduled import CASES, Case, program


def numba_cuda() -> ModuleType:
    try:
        import numba.cuda as module  # noqa: TID251 - its compiler is what is tested
    except (ImportError, RuntimeError, OSError) as error:
        pytest.skip(f"numba.cuda does not import here: {error}")
    return module


def ptx(case: Case, cc: tuple[int, int], finder: Finder = fences.find) -> str:
    """The PTX of the case's kernel."""
    module = numba_cuda()
    from numba import float32, int64  # noqa: TID251

    lowered = cuda.lower(case.program(), types=case.types(), barriers=finder)
    namespace: dict[str, object] = {}
    exec(compile(lowered.text, "<text>", "exec"), namespace)
    kernel = namespace[lowered.kernels[0].name]
    function = kernel.py_func  # type: ignore[attr-defined]
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    matrices = set(case.types())
    signature = tuple(float32[:, ::1] if name in matrices else int64 for name in names)
    try:
        text, _ = module.compile_ptx(function, signature, cc=cc)
    except Exception as error:
        if type(error).__name__ in ("NvvmSupportError", "DynamicLibNotFoundError"):
            pytest.skip(f"no CUDA compiler here: {error}")
        raise
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kernels_compile_without_a_gpu(case: Case) -> None:
    text = ptx(case, (9, 0))
    assert ".f64" not in text  # no arithmetic in double precision that the program does not have
    assert ".local" not in text  # all scalars and private cells in registers


def test_sums_of_parts_go_from_lane_to_lane() -> None:
    [case] = [each for each in CASES if each.name == "softmax"]
    assert "shfl.sync.bfly" in ptx(case, (9, 0), barriers.find)


def test_kernels_compile_for_older_gpus() -> None:
    assert "sm_80" in ptx(CASES[0], (8, 0))


_FUNCTIONS = """
def f(x, y):
    for i in block.x(5):
        y[i, 0] = np.exp(x[i, 0]) + np.expm1(x[i, 1]) + np.log1p(x[i, 2])
        y[i, 1] = np.fabs(x[i, 0]) + np.sqrt(x[i, 3]) + np.tanh(x[i, 4])
"""


def test_functions_of_numpy_compile() -> None:
    case = Case("functions", _FUNCTIONS, lambda rows, columns: ((), ()))  # type: ignore[arg-type,return-value]
    assert ".f64" not in ptx(case, (9, 0))
    made = program(_FUNCTIONS, {"np": "numpy"})
    text = cuda.lower(made, types=case.types()).text
    assert "math.exp(x[i, 0]) + math.expm1(x[i, 1]) + math.log1p(x[i, 2])" in text
    assert "math.fabs(x[i, 0]) + math.sqrt(x[i, 3]) + np.tanh(x[i, 4])" in text


def test_conv_add_stores_the_intermediate_in_shared_memory_alone() -> None:
    text = ptx(CASES[0], (9, 0))
    assert len(re.findall(r"st\.global", text)) == 1
    assert len(re.findall(r"bar\.sync", text)) == 1
    assert "selp" not in text  # no index counts from the end of its array


_SIMULATED = """
import numpy as np
from tests.support.scheduled import CASES
from astile.lower import cuda

for name, size in (("conv_add_10x3", (11, 7)), ("blur", (3, 5)), ("softmax", (2, 40))):
    case = next(each for each in CASES if each.name == name)
    lowered = cuda.lower(case.program(), types=case.types(), plain=True)
    namespace = {}
    exec(compile(lowered.text, "<text>", "exec"), namespace)
    arguments, expected = case.arguments(*size)
    namespace[lowered.entry](*arguments)
    np.testing.assert_allclose(arguments[-1], expected, rtol=2e-6, atol=2e-6)
print("all right")
"""


def test_texts_run_in_the_simulator() -> None:
    numba_cuda()
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_SIMULATED)],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip() == "all right", done.stderr
