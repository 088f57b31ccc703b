"""Long bodies of loops on cores, and those where data pick cells, are functions of their own."""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

import numpy as np
import pytest

from astile import Schedule
from astile.intrinsics import host
from astile.kernel import Kernel
from astile.lower import cpu
from astile.lower.vectors.explicit import Machine
from astile.schedule import recipes

F32 = {"x": "float32", "y": "float32"}


def normalised(x, y):
    n, m = x.shape
    half = np.float32(0.5)
    for i in range(n):
        largest = -np.inf
        for j in range(m):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(m):
            total += x[i, j] * half
        for j in range(m):
            y[i, j] = x[i, j] * total + largest


def scaled(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[i, j] * np.float32(0.5)


@cache
def in_rows() -> Schedule:
    s = Schedule(normalised)
    recipes.vector_rows(s, "i", block=2)
    return s


def functions(s: Schedule, *, width: int | None = 64, one_core: bool = False) -> dict[str, str]:
    """The functions of a text: name -> how it is written."""
    machine = None if width is None else Machine(width)
    text = cpu.lower(s.program, types=F32, machine=machine, one_core=one_core).text
    defined = [each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    return {each.name: ast.get_source_segment(text, each) or "" for each in defined}


def test_the_loop_calls_a_function_with_what_its_body_reads() -> None:
    part, whole = functions(in_rows()).items()
    assert part[0] == "normalised_part"
    assert part[1].startswith("def normalised_part(n, i_0, m, x, half, y):")
    assert whole[1].endswith("normalised_part(n, uint64(i_0), m, x, half, y)")


def test_the_machine_code_of_the_function_stands_in_one_place() -> None:
    text = cpu.lower(in_rows().program, types=F32, machine=Machine(64)).text
    assert '@linked_once\n@njit(error_model="numpy")\ndef normalised_part(' in text


def test_short_bodies_stay() -> None:
    s = Schedule(scaled)
    s.vectorize("j")
    s.parallel("i")
    assert list(functions(s)) == ["scaled"]


def test_some_rows_at_once_are_a_long_body() -> None:
    s = Schedule(scaled)
    block, row = s.split("i", [None, 4])
    s.vectorize("j")
    s.unroll(row)
    s.parallel(block)
    assert list(functions(s)) == ["scaled_part", "scaled"]


@pytest.mark.parametrize("options", [{"width": None}, {"one_core": True}])
def test_without_vectors_and_on_one_core_bodies_stay(options: dict[str, None]) -> None:
    assert list(functions(in_rows(), **options)) == ["normalised"]


@cache
def kernel_in_rows() -> Kernel[..., Any]:
    return in_rows().build("cpu")


@pytest.mark.skipif(host.vector_bytes() < 16, reason="no vectors")
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (3, 63), (4, 64), (300, 129)])
def test_values_are_those_of_the_plain_loops(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(3).integers(-8, 8, shape).astype(np.float32)  # sums are exact
    found, wanted = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    kernel_in_rows()(x, found)
    normalised(x, wanted)
    np.testing.assert_array_equal(found, wanted)


def test_a_short_body_in_which_data_pick_cells() -> None:
    def looked_up(x, table, y):
        n, m = x.shape
        for i in range(n):
            for j in range(m):
                y[i, j] = table[x[i, j]]

    s = Schedule(looked_up)
    s.parallel("i")
    types = {"x": "uint8", "table": "uint8", "y": "uint8"}
    text = cpu.lower(s.program, types=types).text
    assert "looked_up_part(m, y, uint64(i), table, x)" in text
    assert "astile" not in text
    x = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
    table, y = np.arange(256, dtype=np.uint8)[::-1].copy(), np.zeros((3, 4), np.uint8)
    s.build("cpu")(x, table, y)
    np.testing.assert_array_equal(y, table[x])
