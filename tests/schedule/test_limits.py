"""Limits of a GPU: messages name the steps that lead to them."""

from __future__ import annotations

import numpy as np
import pytest

from astile import Schedule
from astile.errors import AstileError, LoweringError
from astile.runtime import launch_limits
from astile.schedule import limits


def reversed_rows(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[i, m - 1 - j]


def steps_in(error: AstileError) -> list[str]:
    return [each for each in error.diagnostic.notes if each.startswith("s.")]


def too_much_shared() -> Schedule:
    s = Schedule(reversed_rows)
    i_0, j_0, *_ = s.tile(["i", "j"], [256, 256])
    s.bind(i_0, "blockIdx.y")
    s.bind(j_0, "blockIdx.x")
    s.cache_read("x", "shared", at=j_0)
    return s


def test_the_step_that_allocates_is_named() -> None:
    s = too_much_shared()
    with pytest.raises(LoweringError, match="262144 bytes of shared memory") as caught:
        s.lowered("cuda", {"x": "float32", "y": "float32"})
    assert steps_in(caught.value) == [
        "s.cache_read('x', 'shared', at='j_0') allocates shared memory"
    ]


def test_a_call_names_it_too() -> None:
    kernel = too_much_shared().build("emulate")
    x = np.zeros((2, 2), np.float32)
    with pytest.raises(LoweringError, match="262144 bytes of shared memory") as caught:
        kernel(x, x.copy())
    assert len(steps_in(caught.value)) == 1


def test_the_steps_that_bind_threads_are_named() -> None:
    s = Schedule(reversed_rows)
    s.tile(["i", "j"], [64, 32])
    for loop, axis in (("i_0", "blockIdx.y"), ("i_1", "threadIdx.y"), ("j_1", "threadIdx.x")):
        s.bind(loop, axis)
    with pytest.raises(LoweringError, match="32 x 64 = 2048 threads") as caught:
        s.source("cuda")
    assert steps_in(caught.value) == [
        "s.bind('i_1', 'threadIdx.y') leads to it",
        "s.bind('j_1', 'threadIdx.x') leads to it",
    ]


def test_a_grid_that_only_a_call_shows_names_the_step() -> None:
    s = Schedule(reversed_rows)
    s.bind("i", "blockIdx.y")
    s.bind("j", "blockIdx.x")
    x = np.zeros((65536, 1), np.float32)
    with pytest.raises(AstileError, match="65536 along y of the grid") as caught:
        s.build("emulate")(x, x.copy())
    assert steps_in(caught.value) == ["s.bind('i', 'blockIdx.y') leads to it"]


def test_too_much_local_memory_names_the_step() -> None:
    s = Schedule(reversed_rows)
    i_0, j_0, *_ = s.tile(["i", "j"], [512, 512])
    s.bind(i_0, "blockIdx.y")
    s.bind(j_0, "blockIdx.x")
    s.cache_read("x", "local", at=j_0)
    with pytest.raises(LoweringError, match="1048576 bytes of local memory") as caught:
        s.lowered("cuda", {"x": "float32", "y": "float32"})
    assert caught.value.code == "lowering.local-memory"
    assert steps_in(caught.value) == ["s.cache_read('x', 'local', at='j_0') allocates local memory"]


def test_too_many_registers_name_the_steps() -> None:
    s = Schedule(reversed_rows)
    _, j_1 = s.split("j", [None, 512])
    s.bind("i", "blockIdx.x")
    s.bind(j_1, "threadIdx.x")
    s.cache_read("x", "local", at=j_1)
    with pytest.raises(LoweringError) as caught, limits.naming_steps(s.steps):
        launch_limits.check_compiled("reversed_rows_kernel", 130, 0, 512)
    assert steps_in(caught.value) == [
        "s.bind('j_1', 'threadIdx.x') leads to it",
        "s.cache_read('x', 'local', at='j_1') allocates local memory",
    ]


def test_other_errors_are_left_as_they_are() -> None:
    s = Schedule(reversed_rows)
    s.bind("i", "threadIdx.y")
    s.bind("j", "threadIdx.x")
    with pytest.raises(LoweringError, match="at most one number of threads") as caught:
        s.source("cuda")
    assert steps_in(caught.value) == []
