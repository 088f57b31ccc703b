"""Reductions that the lanes of a warp share: which they are, and what they compute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile.lower import cuda
from astile.schedule.schedule import Schedule
from tests.support.programs import program_from
from tests.support.staged import assert_emulates, cuda_text

#: A tile of parts, filled by the threads of a block, and what is made of it.
PARTS = """
def f(x, y):
    for b in range(2):
        part = np.empty({count}, x.dtype)
        for t in range({threads}):
            for turn in range({turns}):
                if turn * {threads} + t < {count}:
                    part[turn * {threads} + t] = x[b, turn * {threads} + t]
        {start}
        for k in range({count}):
            {update}
        {end}
"""


def shared(
    update: str = "s += part[k]",
    *,
    start: str = "s = x.dtype.type(0)",
    end: str = "y[b] = s",
    count: int = 64,
    threads: int = 64,
) -> Schedule:
    """A schedule of `PARTS` with the parts in shared memory."""
    turns = -(-count // threads)
    text = PARTS.format(
        count=count, threads=threads, turns=turns, start=start, update=update, end=end
    )
    s = Schedule(program_from(text))
    s.set_scope("part", "shared")
    s.bind("b", "blockIdx.x")
    s.bind("t", "threadIdx.x")
    return s


def arguments(count: int, dtype: type = np.float32) -> Callable[[int], tuple[object, ...]]:
    def made(seed: int) -> tuple[object, ...]:
        x = np.random.default_rng(seed).integers(-9, 9, (2, count))
        return x.astype(dtype), np.zeros(2, dtype)

    return made


def text_of(s: Schedule, count: int = 64, dtype: type = np.float32) -> str:
    return cuda_text(s, arguments(count, dtype)(0))


# --- what they compute --------------------------------------------------------------------------


@pytest.mark.parametrize("count", [8, 31, 32, 33, 64, 100])
def test_cells_that_are_no_multiple_of_a_warp(count: int) -> None:
    s = shared(start="s = np.float32(0)", count=count)
    assert "cuda.shfl_xor_sync" in text_of(s, count)
    assert_emulates(s, arguments(count), [1])


@pytest.mark.parametrize(
    ("update", "start", "dtype"),
    [
        ("s += part[k] * part[k] + k", "s = 0.0", np.float64),
        ("s -= part[k]", "s = np.float32(5)", np.float32),
        ("s = max(s, part[k])", "s = np.float32(-3)", np.float32),
        ("s = min(part[k], s)", "s = np.float64(np.inf)", np.float64),
        ("s += part[k]", "s = np.int64(3)", np.int64),
        ("s ^= part[k]", "s = np.int64(3)", np.int64),
        ("s &= part[k]", "s = np.int64(-1)", np.int64),
    ],
)
def test_every_kind_of_reduction(update: str, start: str, dtype: type) -> None:
    s = shared(update, start=start)
    assert "cuda.shfl_xor_sync" in text_of(s, dtype=dtype)
    assert_emulates(s, arguments(64, dtype), [1])


def test_a_cell_is_updated_by_the_first_warp() -> None:
    s = shared("y[b] += part[k]", start="y[b] = 1", end="pass")
    text = text_of(s)
    assert "if cuda.threadIdx.x < 32:" in text
    assert "y[b] += sum_part" in text
    assert_emulates(s, arguments(64), [1])


def test_values_that_are_no_numbers_are_passed_over_as_in_the_program() -> None:
    s = shared("s = max(s, part[k])", start="s = np.float32(-np.inf)")

    def some_nan(seed: int) -> tuple[object, ...]:
        x, y = arguments(64)(seed)
        x[:, seed::3] = np.nan
        return x, y

    assert_emulates(s, some_nan, [1])


# --- which stay as they are ---------------------------------------------------------------------


def test_a_sum_that_must_keep_its_order() -> None:
    s = shared(start="s = np.float32(0)")
    types = {"x": "float32", "y": "float32"}
    assert "shfl" not in cuda.lower(s.program, types=types, exact=True).text
    exact = Schedule(s.original, exact=True)
    s.trace.apply_to_schedule(exact)
    assert "shfl" not in text_of(exact)


@pytest.mark.parametrize(
    ("update", "options"),
    [
        ("s += part[k]", {"threads": 40}),  # a warp without some of its lanes
        ("s += part[k]", {"count": 7}),
        ("s += s * part[k]", {}),
        ("s = part[k] - s", {}),
        ("s += np.float64(part[k])", {}),  # a type that grows as it goes
        ("y[b] = max(y[b], part[k])", {"end": "pass"}),
        ("y[b] += part[k] + y[b]", {"end": "pass", "start": "y[b] = 0"}),
    ],
)
def test_what_lanes_cannot_share(update: str, options: dict[str, object]) -> None:
    options = {"start": "s = np.float32(0)", **options}
    s = shared(update, **options)
    text = text_of(s, int(options.get("count", 64)))
    assert "part" in text
    assert "shfl" not in text


def test_types_that_are_not_known() -> None:
    assert "shfl" not in cuda.lower(shared(start="s = x[b, 0]").program).text


SQUARE = """
def f(x, y):
    for b in range(2):
        part = np.empty(64, x.dtype)
        for i in range(8):
            for j in range(8):
                part[i * 8 + j] = x[b, i * 8 + j]
        s = np.float32(0)
        for k in range(64):
            s += part[k]
        y[b] = s
"""


def test_warps_of_a_block_of_two_axes() -> None:
    s = Schedule(program_from(SQUARE))
    s.set_scope("part", "shared")
    s.bind("b", "blockIdx.x")
    s.bind("i", "threadIdx.y")
    s.bind("j", "threadIdx.x")
    assert "cuda.shfl_xor_sync" in text_of(s)
    assert_emulates(s, arguments(64), [0])
