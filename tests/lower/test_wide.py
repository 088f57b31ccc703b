"""Loops over the lanes of a vector become accesses of several cells at once, where they can."""

from __future__ import annotations

import numpy as np
import pytest

from astile.intrinsics import plain
from astile.lower import cuda
from astile.lower.lowered import Lowered
from astile.runtime import emulate
from astile.runtime.emulator.wide import AlignmentError
from astile.schedule import recipes
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import load
from tests.support.programs import program_from
from tests.support.recipes import matmul


def lowered(text: str, dtype: str = "float32") -> Lowered:
    program = program_from(text)
    names = [each.arg for each in program.function.args.args]
    return cuda.lower(program, types=dict.fromkeys(names, dtype))


def kernel_of(text: str, dtype: str = "float32") -> str:
    """The text of the first kernel."""
    return lowered(text, dtype).text.partition("\n\n\n@cuda.jit")[2].partition("\n\n\n")[0]


COPY = """
def f(x, y):
    n, m = y.shape
    for b in block.x(n):
        for t in thread.x(8):
            for v in vector({lanes}):
                y[b, t * {lanes} + v] = x[b, t * {lanes} + v]
"""


@pytest.mark.parametrize(
    ("lanes", "dtype"),
    [(2, "float32"), (4, "float32"), (2, "float64"), (4, "float16"), (8, "float16"), (4, "int32")],
)
def test_neighbours_are_loaded_and_stored_at_once(lanes: int, dtype: str) -> None:
    text = kernel_of(COPY.format(lanes=lanes), dtype)
    assert f"store{lanes}(y, (b, t * uint32({lanes})), load{lanes}(x, " in " ".join(text.split())


@pytest.mark.parametrize(
    ("lanes", "dtype"), [(3, "float32"), (8, "float32"), (4, "complex64"), (4, "uint8")]
)
def test_what_no_instruction_moves_stays_a_loop(lanes: int, dtype: str) -> None:
    text = lowered(COPY.format(lanes=lanes), dtype).text
    assert f"for v in range(uint32({lanes})):" in text
    assert "astile" not in text


@pytest.mark.parametrize("index", ["t * 4 + v + 1", "t * 6 + v", "t + v * 8", "t * 4 + 3 - v"])
def test_cells_that_are_no_aligned_neighbours_stay_single(index: str) -> None:
    text = lowered(COPY.format(lanes=4).replace("t * 4 + v", index)).text
    assert "load4" not in text
    assert "store4" not in text


GUARDED = """
def f(x, y):
    n, m = y.shape
    for b in block.x(n):
        for t_0 in range((m + 31) // 32):
            for t in thread.x(8):
                for v in vector(4):
                    if t_0 * 32 + t * 4 + v < m:
                        y[b, t_0 * 32 + t * 4 + v] = x[t_0 * 32 + t * 4 + v, b] * 2 + y[b, t_0 * 32 + t * 4 + v]
"""  # noqa: E501


def test_a_guard_is_asked_for_the_last_lane_first() -> None:
    text = kernel_of(GUARDED)
    assert "if t_0 * uint32(32) + t * uint32(4) + uint32(3) < uint64(m):" in text.replace(
        "uint64(t_0)", "t_0"
    )
    assert "store4(" in text
    assert "for v in range(uint32(4)):" in text  # the lanes at the edge
    assert "range(int32((m + 31) // 32))" in text


def run_and_compare(text: str, x: np.ndarray, y: np.ndarray) -> None:
    expected = y.copy()
    load(program_from(text))(x, expected)
    made = lowered(text, x.dtype.name)
    emulate.load(made.text, made.entry)(x, y)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("m", [0, 3, 4, 31, 32, 33, 40, 64, 67])
def test_edges_are_right(m: int) -> None:
    x = np.arange(m * 3, dtype=np.float32).reshape(m, 3)
    run_and_compare(GUARDED, x, np.full((3, m), 5, np.float32))


def test_arrays_that_are_not_aligned_are_accessed_one_by_one() -> None:
    text = COPY.format(lanes=4)
    wide, narrow = np.ones((3, 36), np.float32), np.zeros((3, 34), np.float32)
    shifted = np.ones(3 * 32 + 1, np.float32)[1:].reshape(3, 32)
    assert not plain.is_aligned(16, shifted)
    for x in (shifted, narrow[:, :32], wide[:, :32], wide[:, 1:33], np.asfortranarray(wide)):
        run_and_compare(text, x, np.zeros((3, 32), np.float32))


def test_what_is_aligned() -> None:
    x = np.zeros((4, 8), np.float32)
    assert plain.is_aligned(16, x, x[1:], x[:, :4], x[0])
    for each in (x[:, 1:], x[:, ::2], x.T, x[0, 1:], np.zeros((4, 6), np.float32)[1:], [1.0]):
        assert not plain.is_aligned(16, each)
    longest = np.lib.stride_tricks.as_strided(x[0], (2**31,), (4,))
    assert not plain.is_aligned(16, longest)  # an int32 does not count so far


def test_an_access_at_another_address_is_found() -> None:
    made = lowered(COPY.format(lanes=4))
    text = made.text.replace("t * uint32(4))", "t * uint32(4) + uint32(1))", 1)
    with pytest.raises(AlignmentError, match="do not start at a multiple of 16 bytes"):
        emulate.load(text, made.entry)(np.ones((2, 36), np.float32), np.ones((2, 36), np.float32))


UNROLLED = """
def f(x, y):
    n = len(y)
    for b in block.x(n):
        for t in thread.x(1):
            acc = local.empty((8, 8), np.float32)
            for i in range(8):
                for j in range(8):
                    acc[i, j] = 0.0
            for k in unroll({count}):
                for i in range(8):
                    for j in range(8):
                        acc[i, j] += x[k] * x[k + 1]
            y[b] = acc[0, 7]
"""


def test_long_unrolled_loops_are_written_out_and_short_ones_are_not() -> None:
    assert "x[3] * x[4]" in kernel_of(UNROLLED.format(count=4))
    assert "for k in range(uint32(2)):" in kernel_of(UNROLLED.format(count=2))
    run_and_compare(UNROLLED.format(count=4), np.arange(5, dtype=np.float32), np.zeros(1, "f4"))


TILE = """
def f(x, y):
    n, m = y.shape
    for b in block.x(n):
        tile = shared.empty(32, np.float32)
        for t in thread.x(8):
            for v in vector(4):
                tile[t * 4 + v] = x[b, t * 4 + v]
        for t in thread.x(8):
            for v in vector(4):
                y[b, t * 4 + v] = tile[28 - t * 4 + v]
"""


def test_shared_arrays_are_aligned_where_they_are_accessed_so() -> None:
    text = kernel_of(TILE)
    assert "tile = cuda.shared.array((32,), np.float32, alignment=16)" in text.replace(
        "array(32,", "array((32,),"
    )
    run_and_compare(TILE, np.arange(96, dtype=np.float32).reshape(3, 32), np.zeros((3, 32), "f4"))


READ_AFTER = """
def f(x, y):
    n, m = y.shape
    for b in block.x(n):
        for t in thread.x(8):
            k = v = 0
            for v in vector(4):
                y[b, t * 4 + v] = x[b, t * 4 + v]
            for k in unroll(8):
                for i in range(8):
                    for j in range(4):
                        y[b, t * 4 + j] += 1.0
            y[b, t * 4] = k * 10 + v
"""


def test_loops_whose_variable_is_read_afterwards_stay() -> None:
    text = kernel_of(READ_AFTER)
    assert "for v in range(4):" in text
    assert "for k in range(8):" in text
    run_and_compare(READ_AFTER, np.ones((3, 32), np.float32), np.zeros((3, 32), np.float32))


def test_what_the_host_does_not_have_is_not_asked_for() -> None:
    text = TILE.replace(
        "        for t in thread.x(8):\n            for v in vector(4):\n                y[b",
        "        for r in range(tile.shape[0]):\n            for t in thread.x(8):\n"
        "                y[b, t] = r\n"
        "        for t in thread.x(8):\n            for v in vector(4):\n                y[b",
    )
    made = lowered(text).text
    assert "is_aligned(16, x, y)" in made
    run_and_compare(text, np.ones((2, 32), np.float32), np.zeros((2, 32), "f4"))


def test_steps_of_a_double_buffer_are_written_out() -> None:
    """Each has barriers of its own, and its slots are numbers."""
    s = Schedule(matmul)
    recipes.tiled_matmul(s, tile=(8, 8), depth=4, cells=(4, 4), stages=2)
    text = s.lowered("cuda", dict.fromkeys("ABC", "float32")).text
    loop = text.partition("for k_0_0 in range(int32((K - 4) // 8)):")[2].partition("for k_0 in")[0]
    assert loop.count("cuda.syncthreads()") == 2
    assert "A_shared[1, " in loop
    assert "A_shared[0, " in loop
    assert "% uint32(2), k_1" not in loop
    assert "k_0_1" not in text
