"""Recipes: what they print, and that it is right at awkward sizes on every target."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from astile.errors import IllegalSchedule, ScheduleError
from astile.lower import cpu
from astile.lower.vectors.explicit import Machine
from astile.schedule import recipes
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import load
from tests.support.counted import agree
from tests.support.programs import program_from
from tests.support.recipes import (
    MATRICES,
    RECIPES,
    Recipe,
    blur,
    jacobi,
    matmul,
    matrices,
    small,
    weighted,
    without_proofs,
)
from tests.support.staged import assert_emulates, bind_threads, cuda_text

Golden = Callable[[str, str], None]

EACH = pytest.mark.parametrize("recipe", RECIPES, ids=lambda each: each.name)


@cache
def scheduled(recipe: Recipe) -> Schedule:
    return recipe.schedule()


# --- what they print ----------------------------------------------------------------------------


@EACH
def test_prints(golden: Golden, recipe: Recipe) -> None:
    s = scheduled(recipe)
    golden(f"recipes/{recipe.name}.py", s.source())
    if recipe.barriers is None:
        golden(f"recipes/{recipe.name}_cpu.py", s.source("cpu"))
    else:
        text = cuda_text(s, recipe.arguments(*recipe.at[0]))
        golden(f"recipes/{recipe.name}_cuda.py", text)
        assert text.count("cuda.syncthreads()") == recipe.barriers


@EACH
def test_its_trace_replays(recipe: Recipe) -> None:
    """Each call finds by name what the recipe found by handle; the proofs are those of `small`."""
    s, fresh = small(recipe), Schedule(recipe.kernel)
    with without_proofs():
        s.trace.apply_to_schedule(fresh)
    assert fresh.source() == s.source()


@EACH
def test_every_step_is_proved(recipe: Recipe) -> None:
    kinds = {each.proof.kind for each in scheduled(recipe).steps if each.proof is not None}
    assert kinds <= {"equal", "equal up to reassociation"}
    assert all(each.proof is not None for each in scheduled(recipe).steps)


def test_sums_lie_in_registers() -> None:
    [recipe] = [each for each in RECIPES if each.name == "matmul_registers"]
    text = cuda_text(scheduled(recipe), matrices(1, 1, 1))
    assert "C_local = cuda.local.array((8, 8), np.float32)" in text


def test_chains_keep_nothing_in_local_memory() -> None:
    for recipe in RECIPES:
        if recipe.name in ("blur", "three"):
            assert "cuda.local" not in cuda_text(scheduled(recipe), recipe.arguments(1, 1))


# --- what they compute --------------------------------------------------------------------------


def assert_close(
    recipe: Recipe, run: Callable[..., object], sizes: tuple[tuple[int, ...], ...]
) -> None:
    """Run a candidate and the plain function; floats may differ by the order of a sum."""
    for size in sizes:
        expected, found = recipe.arguments(*size), recipe.arguments(*size)
        with np.errstate(all="ignore"):
            recipe.kernel(*expected)
            run(*found)
        for left, right in zip(expected, found, strict=True):
            np.testing.assert_allclose(right, left, rtol=1e-5, err_msg=f"at size {size}")


@EACH
def test_is_right_in_plain_python(recipe: Recipe) -> None:
    assert_close(recipe, load(small(recipe).program), recipe.at)


@EACH
def test_counts_of_explain_are_those_of_a_run(recipe: Recipe) -> None:
    sizes = max((each for each in recipe.at if math.prod(each) < 250), key=math.prod)
    names = inspect.signature(recipe.kernel).parameters
    agree(small(recipe).program, dict(zip(names, recipe.arguments(*sizes), strict=True)))


@EACH
def test_is_right_in_the_emulator(recipe: Recipe) -> None:
    if recipe.barriers is not None:
        assert_emulates(small(recipe), recipe.arguments, recipe.at)


@pytest.mark.slow
@EACH
def test_is_right_on_the_cpu(recipe: Recipe) -> None:
    assert_close(recipe, small(recipe).build("cpu"), recipe.at)


def test_a_product_keeps_its_order_of_sums() -> None:
    s = Schedule(matmul, exact=True)
    recipes.tiled_matmul(s, depth=8)
    assert all(each.proof is not None and each.proof.kind == "equal" for each in s.steps)


def test_a_product_whose_tiles_are_loaded_as_rows_of_cells(golden: Golden) -> None:
    """A tile of 384 cells for 256 threads, fused, split and bound by hand."""
    s = Schedule(matmul)
    i_0, j_0, i_1, j_1 = s.tile(["i", "j"], [16, 16])
    k_0, k_1 = s.split("k", [None, 24])
    s.reorder(i_0, j_0, k_0, i_1, j_1, k_1)
    s.bind(i_0, "blockIdx.y")
    s.bind(j_0, "blockIdx.x")
    for array in ("A", "B"):
        copy = s.cache_read(array, "shared", at=k_0)
        [cell] = s.fuse(*copy)
        _, y, x = s.split(cell, [None, 16, 16], names=[f"{array}_{part}" for part in "tyx"])
        s.bind(y, "threadIdx.y")
        s.bind(x, "threadIdx.x")
    bind_threads(s, {"i_1": "threadIdx.y", "j_1": "threadIdx.x"})
    golden("recipes/matmul_fused.py", s.source())
    text = cuda_text(s, matrices(1, 1, 1))
    golden("recipes/matmul_fused_cuda.py", text)
    assert text.count("cuda.syncthreads()") == 2
    assert_emulates(s, matrices, MATRICES[:4])


def test_a_packed_product_keeps_its_sums_in_registers(golden: Golden) -> None:
    s = scheduled(next(each for each in RECIPES if each.name == "matmul_packed"))
    types = dict.fromkeys("ABC", "float32")
    text = cpu.lower(s.program, types=types, machine=Machine(64)).text
    golden("recipes/matmul_packed_vectors.py", text)
    # 24 sums of a tile, in a loop whose iterations LLVM writes out; 4 of a row; the import
    assert text.count("fma") == 24 + 4 + 1
    assert text.count("unrolled(4)") == 1


def test_packed_products_of_all_remainders() -> None:
    s = Schedule(matmul)
    recipes.packed_matmul(s)
    product = s.build("cpu")
    random = np.random.default_rng(0)
    for m, k, n in itertools.product(
        (1, 5, 6, 7, 13), (1, 3, 4, 18, 71), (1, 15, 16, 17, 63, 64, 70)
    ):
        a, b = (random.random(shape, np.float32) for shape in ((m, k), (k, n)))
        c = np.full((m, n), np.nan, np.float32)
        product(a, b, c)
        np.testing.assert_allclose(c, a @ b, rtol=1e-5)


# --- what they refuse ---------------------------------------------------------------------------


def test_a_program_without_these_loops() -> None:
    with pytest.raises(ScheduleError, match="no loop named 'k'"):
        recipes.tiled_matmul(Schedule(blur), ["out.i", "out.j", "k"], result="out")


def test_cells_that_do_not_fill_a_tile() -> None:
    with pytest.raises(ScheduleError, match=r"cells of \(3, 1\) do not fill a tile of \(16, 16\)"):
        recipes.tiled_matmul(Schedule(matmul), cells=(3, 1))


def test_lanes_that_are_not_whole_vectors() -> None:
    [recipe] = [each for each in RECIPES if each.name == "softmax_vectors"]
    with pytest.raises(ScheduleError, match="6 lanes are not 4 vectors"):
        recipes.vector_rows(Schedule(recipe.kernel), "i", lanes=6)


def test_an_operand_that_is_not_read() -> None:
    with pytest.raises(ScheduleError, match="nothing in this loop reads a cell of D"):
        recipes.tiled_matmul(Schedule(matmul), operands=("A", "D"))


def running(x, out):
    H, W = x.shape
    a = np.empty((H, W), np.float32)
    for i in range(1, H):
        for j in range(W):
            a[i, j] = a[i - 1, j] + x[i, j]
    for i in range(H):
        for j in range(W):
            out[i, j] = a[i, j]


def test_a_chain_that_carries_values_along() -> None:
    with pytest.raises(IllegalSchedule, match="a"):
        recipes.stencil_chain(Schedule(running), "out")


def test_copies_without_a_literal_length() -> None:
    s = Schedule(matmul)
    copy = s.cache_read("A", "local", at="i")
    with pytest.raises(ScheduleError, match="no literal length"):
        recipes.cooperate(s, copy, (16, 16), "A")


def test_a_time_loop_without_sweeps_over_all_axes() -> None:
    with pytest.raises(ScheduleError, match="no sweeps over 3 axes"):
        recipes.time_tiled(Schedule(jacobi), "t", (5, 8, 8, 8))


def test_sweeps_that_read_further_than_said() -> None:
    def wide(a, b):
        n = len(a)
        for t in range(10):
            for i in range(2, n - 2):
                b[i] = a[i - 2] + a[i + 2]
            for i in range(2, n - 2):
                a[i] = b[i]

    with pytest.raises(IllegalSchedule):
        recipes.time_tiled(Schedule(wide), "t", (5, 8))
    recipes.time_tiled(Schedule(wide), "t", (5, 8), reach=2)


def test_a_histogram_of_nothing_or_of_several_axes() -> None:
    with pytest.raises(ScheduleError, match="0 stages write 'x'"):
        recipes.histogram(Schedule(weighted), "i", "x")

    def pairs(x, y):
        counts = np.zeros((4, 4), np.int32)
        for i in range(len(x)):
            counts[x[i], y[i]] += 1
        return counts

    with pytest.raises(ScheduleError, match="counts has more axes than the one"):
        recipes.block_histogram(Schedule(pairs), "i", "counts")


def test_a_histogram_of_a_length_that_is_not_known() -> None:
    with pytest.raises(ScheduleError, match=r"axis 2 of counts_rf_rf .* no literal"):
        recipes.block_histogram(Schedule(weighted), "i", "counts")


def test_rows_whose_result_nobody_can_join() -> None:
    def running(x, out):
        n, m = x.shape
        for i in range(n):
            s = np.float32(0.0)
            for j in range(m):
                s = x[i, j] - s
            out[i] = s

    with pytest.raises(ScheduleError):
        recipes.row_reduction(Schedule(running), "i")


# --- other programs ---------------------------------------------------------------------------


def line(x, out):
    n = len(x)
    a = np.empty(n)
    for i in range(n):
        a[i] = x[i] * 2
    for i in range(1, n - 1):
        out[i] = a[i - 1] + a[i + 1]


def test_a_chain_along_one_axis() -> None:
    s = Schedule(line)
    recipes.stencil_chain(s, "out", (8,))

    def arguments(n: int) -> tuple[object, ...]:
        return np.arange(n) * 1.5, np.zeros(n)

    assert_emulates(s, arguments, (0, 1, 2, 7, 8, 9, 19, 37))


@pytest.mark.parametrize("size", [(5, 3), (5, 9), (16, 24), (17, 11), (1, 7), (7, 1)])
def test_tiles_of_any_size_are_copied_by_all_threads(size: tuple[int, int]) -> None:
    rows, columns = size
    text = f"""
def f(x, y):
    for b in range(3):
        for i in range(8):
            for j in range(4):
                for p in range({rows}):
                    for q in range({columns}):
                        y[b, i, j] += x[b + p, b + q] * (i + j)
"""
    s = Schedule(program_from(text))
    s.bind("b", "blockIdx.x")
    copy = s.cache_read("x", "shared", at="b")
    s.bind("i", "threadIdx.y")
    s.bind("j", "threadIdx.x")
    recipes.cooperate(s, [each for each in copy if each.var.startswith("x")], (8, 4), "x")

    def arguments(n: int) -> tuple[object, ...]:
        x = np.arange((rows + 2) * (columns + 2)).reshape(rows + 2, columns + 2)
        return x, np.zeros((3, 8, 4), np.int64)

    assert_emulates(s, arguments, [1])


VOLUME = """
def f(x, y):
    for b in range(2):
        for i in range(4):
            for j in range(8):
                for c in range(3):
                    for p in range(2):
                        for q in range(3):
                            y[b, i, j] += x[b + c, i + p, j + q] * (c + 1)
"""


class Watched(np.ndarray):
    """An array that notes which of its cells are read."""

    def __getitem__(self, index: object) -> object:
        if isinstance(index, tuple) and all(isinstance(each, int) for each in index):
            self.read.append(index)
        return np.asarray(self)[index]


def test_a_tile_of_three_axes_is_copied_in_runs_of_neighbouring_cells() -> None:
    s = Schedule(program_from(VOLUME))
    s.bind("b", "blockIdx.x")
    copy = s.cache_read("x", "shared", at="b")
    assert len(copy) == 3
    s.bind("i", "threadIdx.y")
    s.bind("j", "threadIdx.x")
    recipes.cooperate(s, copy, (4, 8), "x")

    def arguments(n: int) -> tuple[object, ...]:
        return np.arange(4 * 5 * 10).reshape(4, 5, 10), np.zeros((2, 4, 8), np.int64)

    assert_emulates(s, arguments, [1])
    x, y = arguments(1)
    watched = np.asarray(x).view(Watched)
    watched.read = []
    load(s.program)(watched, y)
    cells = [np.ravel_multi_index(each, watched.shape) for each in watched.read]
    assert len(cells) == 2 * 3 * 5 * 10  # each block copies its tile once
    assert np.count_nonzero(np.diff(cells) != 1) == 1  # from one block's tile to the next one's
