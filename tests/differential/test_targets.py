"""Kernels of several stages give the plain function's result on every target, at every size."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from astile.runtime import emulate
from astile.schedule.schedule import Schedule
from tests.differential import kernels, schedules

#: Sizes around a tile, and around the photograph of the example.
SMALL = ((1, 1), (7, 7), (15, 15), (16, 16), (17, 17))
SIZES = (*SMALL, (223, 223), (224, 224), (225, 31))
TILES = ((16, 16), (8, 32), (10, 3))


def arguments(kernel: Callable[..., Any], rows: int, columns: int) -> list[np.ndarray]:
    g = np.random.default_rng(rows * 1000 + columns)
    image = g.random((rows + 2, columns + 2), dtype=np.float32)
    out = np.full((rows, columns), np.nan, np.float32)
    if kernel is kernels.blur:
        return [image, out]
    weights, bias = g.random((3, 3), dtype=np.float32), g.random((rows, columns)) - 4.5
    return [image, weights, bias.astype(np.float32), out]


def reference(kernel: Callable[..., Any], args: list[np.ndarray]) -> np.ndarray:
    """The result in float64 by whole arrays, which shares nothing with the loops."""
    windows = np.lib.stride_tricks.sliding_window_view(args[0].astype(np.float64), (3, 3))
    if kernel is kernels.blur:
        return windows.sum((2, 3))
    added = (windows * args[1]).sum((2, 3)) + args[2]
    return np.maximum(added, 0) if kernel is kernels.conv_add_relu else added


KERNELS = (
    (kernels.conv_add, ("conv",)),
    (kernels.blur, ("rows",)),
    (kernels.conv_add_relu, ("total", "conv")),
)
KERNEL = pytest.mark.parametrize(
    ("kernel", "producers"), KERNELS, ids=lambda each: getattr(each, "__name__", "")
)
TILE = pytest.mark.parametrize("tile", TILES, ids=lambda each: f"{each[0]}x{each[1]}")


def scheduled(kernel: Callable[..., Any], apply: Callable[..., None], *options: Any) -> Schedule:
    schedule = Schedule(kernel)
    apply(schedule, *options)
    return schedule


def loaded(text: str, name: str) -> Callable[..., Any]:
    scope: dict[str, Any] = {}
    exec(compile(text, f"<{name}>", "exec"), scope)
    return scope[name]


def run(function: Callable[..., Any], kernel: Callable[..., Any], size: tuple[int, int]) -> Any:
    args = arguments(kernel, *size)
    function(*args)
    return args[-1], reference(kernel, args)


@KERNEL
@TILE
def test_python_is_bit_equal_to_the_plain_function(kernel, producers, tile):
    schedule = scheduled(kernel, schedules.on_host, producers, tile)
    candidate = loaded(schedule.source(), kernel.__name__)
    for size in SIZES:
        plain, got = arguments(kernel, *size), arguments(kernel, *size)
        kernel(*plain)
        candidate(*got)
        assert np.array_equal(plain[-1], got[-1]), size


@KERNEL
@TILE
def test_cpu(kernel, producers, tile):
    schedule = scheduled(kernel, schedules.on_host, producers, tile)
    candidate = schedule.build("cpu")
    for size in SIZES:
        got, wanted = run(candidate, kernel, size)
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6, err_msg=str(size))


@KERNEL
@TILE
def test_emulated_cuda(kernel, producers, tile):
    schedule = scheduled(kernel, schedules.on_blocks, producers, tile)
    candidate = emulate.load(schedule.source("cuda"), kernel.__name__)
    for size in SIZES if kernel is kernels.conv_add else (*SMALL, SIZES[-1]):
        got, wanted = run(candidate, kernel, size)
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6, err_msg=str(size))


@pytest.mark.parametrize("size", [(5, 7, 10), (8, 8, 8), (9, 17, 1), (1, 1, 1), (16, 3, 40)])
def test_matmul_staged_by_hand(size):
    m, n, k = size
    schedule = scheduled(kernels.staged_matmul, schedules.staged_on_blocks)
    g = np.random.default_rng(0)
    a, b = g.random((m, k), dtype=np.float32), g.random((k, n), dtype=np.float32)
    wanted = a.astype(np.float64) @ b
    for candidate in (
        loaded(schedule.source(), "staged_matmul"),
        schedule.build("cpu"),
        emulate.load(schedule.source("cuda"), "staged_matmul"),
    ):
        got = np.full((m, n), np.nan, np.float32)
        candidate(a, b, got)
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


@pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed"
)
def test_numbas_simulator():
    found = subprocess.run(
        [sys.executable, "-m", "tests.differential.simulated"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert len(found.stdout.splitlines()) == len(TILES) + len(KERNELS[1:]) + 1
