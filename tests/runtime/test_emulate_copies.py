"""Copies that run beside the computation, in the emulator."""

from __future__ import annotations

import numpy as np
import pytest

from astile.runtime import emulate
from astile.runtime.emulate import BoundsError, EmulationError, EmulationReport, RaceError

HEAD = """
from numba import cuda, float32, uint32
from astile.intrinsics.async_copies import (
    close_group, start_copy1, start_copy4, wait_all, wait_all_but_1
)
@cuda.jit
def kernel(a, out):
    tile = cuda.shared.array((2, 128), float32, alignment=16)
    own = cuda.local.array(4, float32)
    i = uint32(cuda.threadIdx.x)
"""
TAIL = """
def run(a, out):
    kernel[1, 32](a, out)
"""


def run(body: str, report: EmulationReport | None = None) -> np.ndarray:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    a, out = np.arange(256, dtype=np.float32).reshape(2, 128), np.zeros((2, 128), np.float32)
    emulate.load(HEAD + lines + TAIL, "run", report=report)(a, out)
    return out


GOOD = """
start_copy4(tile, (0, i * uint32(4)), a, (1, i * uint32(4)))
close_group()
start_copy1(tile, (1, i), a, (0, i))
close_group()
wait_all_but_1()
cuda.syncthreads()
out[0, i] = tile[0, uint32(127) - i]
wait_all()
cuda.syncthreads()
out[1, i] = tile[1, uint32(31) - i]
"""


def test_values_arrive_group_by_group() -> None:
    report = EmulationReport()
    out = run(GOOD, report)
    assert out[0, :32].tolist() == list(range(255, 223, -1))
    assert out[1, :32].tolist() == list(range(31, -1, -1))
    assert report.traffic("a").sectors == 16 + 4
    assert report.launches[0].shared["tile"].requests == 4
    assert report.bank_conflicts == 0


def test_one_cell_is_copied_whatever_the_strides() -> None:
    lines = "\n".join(f"    {line}" for line in GOOD.replace("copy4", "copy1").split("\n"))
    a, out = (
        np.arange(512, dtype=np.float32).reshape(2, 256)[:, ::2],
        np.zeros((2, 128), np.float32),
    )
    emulate.load(HEAD + lines.replace(" * uint32(4)", "").replace("127", "31") + TAIL, "run")(
        a, out
    )
    assert out[1, :32].tolist() == list(range(62, -1, -2))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("wait_all_but_1()\n", "", "read while a copy to it is under way"),
        ("wait_all()\n", "wait_all_but_1()\n", "read while a copy to it is under way"),
        ("close_group()\nwait", "wait", "read while a copy to it is under way"),
        ("wait_all()\ncuda.syncthreads()", "wait_all()", "race on shared tile"),
        ("wait_all()", "tile[1, i] = 3\nwait_all()", "write while a copy to it is under way"),
        ("wait_all()", "start_copy1(tile, (1, i), a, (0, i))\nwait_all()", "write while a copy"),
        ("start_copy1(tile, (1, i)", "start_copy1(tile, (1, 0)", "write while a copy"),
    ],
)
def test_what_meets_a_copy_under_way_is_found(old: str, new: str, message: str) -> None:
    changed = GOOD.replace(old, new, 1)
    if old.startswith("close_group()\nwait"):
        changed = changed.replace("close_group()\nstart_copy1", "start_copy1")
    assert changed != GOOD
    with pytest.raises(RaceError, match=message):
        run(changed)


@pytest.mark.parametrize(
    ("copy", "message"),
    [
        ("start_copy4(tile, (0, i), a, (0, uint32(4) * i))", "multiple of 16 bytes"),
        ("start_copy4(tile, (0, uint32(4) * i), a, (0, i))", "multiple of 16 bytes"),
        ("start_copy1(own, (0,), a, (0, i))", "not from global a to local own"),
        ("start_copy1(tile, (0, i), tile, (1, i))", "not from shared tile to shared tile"),
    ],
)
def test_copies_that_no_gpu_makes(copy: str, message: str) -> None:
    with pytest.raises(EmulationError, match=message):
        run(copy)


def test_copies_outside_of_an_array() -> None:
    with pytest.raises(BoundsError):
        run("start_copy1(tile, (0, i + uint32(100)), a, (0, i))")
    with pytest.raises(BoundsError):
        run("start_copy1(tile, (0, i), a, (0, i + uint32(100)))")
