"""The words of printed programs run as plain Python."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from astile import loops
from astile.loops import block, local, parallel, shared, thread, unroll, vector

LOOP_WORDS = [
    parallel,
    unroll,
    vector,
    block.x,
    block.y,
    block.z,
    thread.x,
    thread.y,
    thread.z,
    loops.range,
]
SCALARS = [
    "bool_",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


@pytest.mark.parametrize("word", LOOP_WORDS)
@pytest.mark.parametrize("bounds", [(5,), (0,), (2, 9), (1, 10, 3), (9, -1, -2), (np.int64(4),)])
def test_every_loop_word_is_a_range(word: Callable[..., range], bounds: tuple[int, ...]) -> None:
    result = word(*bounds)
    assert type(result) is range
    assert result == range(*bounds)


@pytest.mark.parametrize("word", LOOP_WORDS)
def test_loop_words_refuse_what_range_refuses(word: Callable[..., range]) -> None:
    with pytest.raises(TypeError):
        word()
    with pytest.raises(TypeError):
        word(1.5)
    with pytest.raises(ValueError, match="zero"):
        word(0, 4, 0)


def test_range_is_the_builtin() -> None:
    assert loops.range is builtins.range


@pytest.mark.parametrize("scope", [shared, local])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_fresh_float_cells_are_nan(scope: loops.Scope, dtype: str) -> None:
    array = scope.empty((3, 4), dtype)
    assert array.shape == (3, 4)
    assert array.dtype == np.dtype(dtype)
    assert np.isnan(array).all()


@pytest.mark.parametrize("scope", [shared, local])
@pytest.mark.parametrize("name", [name for name in SCALARS if "int" in name])
def test_fresh_integer_cells_are_extreme(scope: loops.Scope, name: str) -> None:
    dtype = np.dtype(getattr(loops, name))
    array = scope.empty(5, dtype)
    limits = np.iinfo(dtype)
    extreme = limits.max if dtype.kind == "u" else limits.min
    assert array.dtype == dtype
    assert array.tolist() == [extreme] * 5


def test_fresh_booleans_and_other_types_have_the_asked_type() -> None:
    assert shared.empty(2, loops.bool_).tolist() == [True, True]
    assert local.empty((2, 0), "S3").dtype == np.dtype("S3")


@pytest.mark.parametrize("scope", [shared, local])
def test_zeros(scope: loops.Scope) -> None:
    array: np.ndarray[Any, Any] = scope.zeros((2, 2), loops.int16)
    assert array.dtype == np.int16
    assert not array.any()


@pytest.mark.parametrize("name", SCALARS)
def test_scalar_types_are_numpys(name: str) -> None:
    assert getattr(loops, name) is getattr(np, name)
    assert name in loops.__all__


def test_a_printed_program_runs() -> None:
    out = np.zeros((5, 7), np.float32)
    for tile in block.x(2):
        tile_shared = shared.empty((4, 7), loops.float32)
        for row in thread.y(4):
            for column in thread.x(7):
                tile_shared[row, column] = loops.float32(10 * (4 * tile + row) + column)
        for row in thread.y(4):
            for column in vector(7):
                if 4 * tile + row < 5:
                    out[4 * tile + row, column] = tile_shared[row, column]
    assert np.array_equal(out, 10 * np.arange(5)[:, None] + np.arange(7))


def test_only_numpy_is_imported() -> None:
    tree = ast.parse(Path(loops.__file__).read_text(encoding="utf-8"))
    roots: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").split(".")[0])
    assert roots <= {"__future__", "builtins", "typing", "numpy"}
