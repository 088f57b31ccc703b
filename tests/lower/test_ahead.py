"""Copies of pipelines that run beside the computation: text, values, faults that are found."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from astile.lower import cuda
from astile.runtime import emulate
from astile.runtime.emulate import RaceError
from astile.schedule.schedule import Schedule
from tests.support.programs import program_from
from tests.support.staged import cuda_text

PLANES = """
def f(x, y):
    for b in range(2):
        for k in range(len(x)):
            for i in range(32):
                y[b, i] += {value}
"""

WRITTEN = """
def f(x, y):
    for b in range(2):
        for k in range(8):
            for i in range(8):
                y[b, i] += x[k, b, 7 - i]
        for j in range(8):
            x[0, b, j] = 0
"""


@cache
def pipelined(stages: int = 3, value: str = "x[k, b, i] * x[k, b, 31 - i]") -> Schedule:
    s = Schedule(program_from(PLANES.format(value=value)))
    copy = s.cache_read("x", "shared", at="k")[-1]
    s.bind("b", "blockIdx.x")
    copy, _ = s.split(copy, [None, 4], names=["t", "v"])
    i, _ = s.split("i", [None, 4])
    s.bind(copy, "threadIdx.x")
    s.bind(i, "threadIdx.x")
    s.vectorize("v")
    s.pipeline("k", stages)
    return s


def arguments(n: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(n).random((n, 2, 32), np.float32)
    return x, np.zeros((2, 32), np.float32)


@cache
def text_of(stages: int = 3) -> str:
    return cuda_text(pipelined(stages), arguments(1))


def run(text: str, n: int = 5) -> None:
    x, y = arguments(n)
    emulate.load(text, "f")(x, y)
    np.testing.assert_allclose(y, (x * x[:, :, ::-1]).sum(0), rtol=1e-5)


def test_the_text(golden: Callable[[str, str], None]) -> None:
    golden("lower/planes_cuda.py", text_of())


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_its_values(stages: int) -> None:
    text = text_of(stages)
    assert text.count("close_group()") == 4  # two loops, for rows that are aligned and others
    for n in range(stages + 3):
        run(text, n)


def test_rows_that_are_not_aligned_are_copied_cell_by_cell() -> None:
    x, y = arguments(4)
    whole = np.zeros((4, 2, 33), np.float32)
    whole[:, :, 1:] = x
    emulate.load(text_of(), "f")(whole[:, :, 1:], y)
    np.testing.assert_allclose(y, (x * x[:, :, ::-1]).sum(0), rtol=1e-5)


def test_the_plain_text_has_no_words_that_a_simulator_lacks() -> None:
    types = {"x": "float32", "y": "float32"}
    text = cuda.lower(pipelined().program, types=types, plain=True).text
    assert "astile" not in text
    run(text)


def test_with_two_stages_all_copies_have_arrived_at_each_barrier() -> None:
    assert "wait_all()" in text_of(2)
    assert "wait_all_but" not in text_of(2)
    assert "wait_all_but_2()" in text_of(4)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        wait_all_but_1()\n", ""),
        ("        wait_all_but_1()\n", "        wait_all_but_2()\n"),
        ("    wait_all()\n", ""),
        ("    wait_all()\n", "    wait_all_but_1()\n"),
    ],
)
def test_a_wait_that_is_too_short_is_found(old: str, new: str) -> None:
    text = text_of()
    assert old in text
    text = text.replace("wait_all_but_1\n)", "wait_all_but_1, wait_all_but_2\n)")
    with pytest.raises(RaceError, match="while a copy to it is under way"):
        run(text.replace(old, new))


def test_a_group_that_is_closed_late_is_found() -> None:
    """The copies of all first iterations as one group."""
    first, rest = text_of().split("        close_group()\n", 1)
    with pytest.raises(RaceError, match="while a copy to it is under way"):
        run(f"{first.rstrip()}\n    close_group()\n{rest}")


def test_cells_of_two_bytes_are_copied_four_at_a_time() -> None:
    x = np.zeros((1, 2, 32), np.float16)
    text = cuda_text(pipelined(3), (x, np.zeros((2, 32), np.float32)))
    assert "start_copy4" in text
    assert "start_copy1" not in text  # 2 bytes: stored as usual where rows are not aligned


def test_an_array_that_the_kernel_writes_is_copied_as_usual() -> None:
    text = cuda_text(pipelined(3, "x[k, b, 31 - i]"), arguments(1))
    assert "start_copy4" in text
    s = Schedule(program_from(WRITTEN))
    s.cache_read("x", "shared", at="k")
    s.bind("b", "blockIdx.x")
    s.bind("i", "threadIdx.x")
    s.bind("j", "threadIdx.x")
    s.bind(s.loops("x_shared")[-1], "threadIdx.x")
    s.pipeline("k", 2)
    assert "start_copy" not in cuda_text(s, arguments(1))


def test_tiles_of_another_type_are_stored_as_usual() -> None:
    assert "start_copy" not in pipelined().lowered("cuda").text  # types are not known
