"""Every target gives what the scheduled program gives in plain Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile.lower import cpu, cuda, python
from astile.lower.kernels import fences
from astile.runtime import emulate
from tests.support.scheduled import CASES, SIZES, Case

CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def loaded(text: str, entry: str) -> Callable[..., object]:
    namespace: dict[str, object] = {}
    exec(compile(text, f"<{entry}>", "exec"), namespace)
    function = namespace[entry]
    assert callable(function)
    return function


def check(case: Case, function: Callable[..., object], sizes: tuple[tuple[int, int], ...]) -> None:
    for height, width in sizes:
        arguments, expected = case.arguments(height, width)
        function(*arguments)
        np.testing.assert_allclose(
            arguments[-1], expected, rtol=2e-6, atol=2e-6, err_msg=f"{height} x {width}"
        )


@CASE
def test_python_text(case: Case) -> None:
    lowered = python.lower(case.program())
    check(case, loaded(lowered.text, lowered.entry), SIZES)


@CASE
def test_cpu_text(case: Case) -> None:
    lowered = cpu.lower(case.program(), types=case.types())
    assert "astile" not in lowered.text
    check(case, loaded(lowered.text, lowered.entry), (*SIZES, (0, 5)))


@CASE
@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_cuda_text_emulated(case: Case, order: emulate.Order) -> None:
    lowered = cuda.lower(case.program(), types=case.types(), barriers=fences.find)
    assert "astile" not in lowered.text
    check(case, emulate.load(lowered.text, lowered.entry, order=order), SIZES)


@CASE
def test_cuda_text_without_types_emulated(case: Case) -> None:
    lowered = cuda.lower(case.program(), barriers=fences.find)
    check(case, emulate.load(lowered.text, lowered.entry), ((17, 17), (0, 5)))


@CASE
def test_texts_are_as_reviewed(case: Case, golden: Callable[[str, str], None]) -> None:
    golden(f"lower/{case.name}_cpu.py", cpu.lower(case.program(), types=case.types()).text)
    lowered = cuda.lower(case.program(), types=case.types(), barriers=fences.find)
    golden(f"lower/{case.name}_cuda.py", lowered.text)


@pytest.mark.parametrize("name", ["blur", "matmul", "softmax"])
def test_each_barrier_that_is_left_out_is_noticed(name: str) -> None:
    case = next(each for each in CASES if each.name == name)
    lowered = cuda.lower(case.program(), barriers=fences.find)
    parts = lowered.text.split("cuda.syncthreads()")
    assert len(parts) > 1
    for left_out in range(1, len(parts)):
        text = "pass".join(
            "cuda.syncthreads()".join(half) for half in (parts[:left_out], parts[left_out:])
        )
        with pytest.raises(emulate.EmulationError):
            check(case, emulate.load(text, lowered.entry), ((33, 31),))
