"""Recipes for GPUs: what they print, and that it is right at awkward sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile.errors import IllegalSchedule, ScheduleError
from astile.schedule import recipes
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import assert_replays, assert_same_results
from tests.support.programs import program_from
from tests.support.staged import assert_emulates, bind_threads, cuda_text

Golden = Callable[[str, str], None]


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]


def blur(x, out):
    H, W = x.shape
    wide = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W - 2):
            wide[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = wide[i, j] + wide[i + 1, j] + wide[i + 2, j]


def three(x, w, out):
    H, W = x.shape
    a = np.empty((H, W), np.float32)
    b = np.empty((H, W), np.float32)
    for i in range(1, H - 1):
        for j in range(1, W - 1):
            s = np.float32(0.0)
            for p in range(3):
                for q in range(3):
                    s += x[i + p - 1, j + q - 1] * w[p, q]
            a[i, j] = s
    for i in range(2, H - 2):
        for j in range(2, W - 2):
            b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] - 4 * a[i, j]
    for i in range(3, H - 3):
        for j in range(3, W - 3):
            out[i, j] = max(b[i - 1, j - 1], b[i + 1, j + 1]) + a[i, j]


def matrices(m: int, k: int, n: int) -> tuple[object, ...]:
    a, b = np.arange(m * k) % 7, np.arange(k * n) % 5
    shapes = (m, k), (k, n)
    a, b = (x.reshape(s).astype(np.float32) for x, s in zip((a, b), shapes, strict=True))
    return a, b, np.full((m, n), 9, np.float32)


def image(m: int, n: int) -> tuple[object, ...]:
    return (np.arange(m * n) % 17).reshape(m, n).astype(np.float32), np.zeros((m, n), np.float32)


def image_and_weights(m: int, n: int) -> tuple[object, ...]:
    x, out = image(m, n)
    return x, np.arange(9, dtype=np.float32).reshape(3, 3), out


#: Rows, summed up, columns: also more to sum up than columns, nothing to sum up, and nothing.
MATRICES = [
    (1, 1, 1),
    (16, 16, 16),
    (17, 5, 3),
    (5, 50, 7),
    (15, 23, 31),
    (33, 1, 18),
    (4, 0, 3),
    (0, 3, 4),
]


def product(depth: int, tile: tuple[int, int] = (16, 16), *, exact: bool = False) -> Schedule:
    s = Schedule(matmul, exact=exact)
    recipes.tiled_matmul(s, depth=depth, tile=tile)
    return s


# --- what they print ----------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [8, 24])
def test_a_product(golden: Golden, depth: int) -> None:
    s = product(depth)
    golden(f"recipes/matmul_{depth}.py", s.source())
    text = cuda_text(s, matrices(1, 1, 1))
    golden(f"recipes/matmul_{depth}_cuda.py", text)
    assert text.count("cuda.syncthreads()") == 2


@pytest.mark.parametrize(
    ("kernel", "arguments", "barriers"), [(blur, image, 1), (three, image_and_weights, 2)]
)
def test_a_chain(
    golden: Golden,
    kernel: Callable[..., None],
    arguments: Callable[..., tuple[object, ...]],
    barriers: int,
) -> None:
    s = Schedule(kernel)
    recipes.stencil_chain(s, "out")
    golden(f"recipes/{kernel.__name__}.py", s.source())
    text = cuda_text(s, arguments(1, 1))
    golden(f"recipes/{kernel.__name__}_cuda.py", text)
    assert text.count("cuda.syncthreads()") == barriers
    assert "cuda.local" not in text


def test_a_product_keeps_its_order_of_sums() -> None:
    assert all(each.proof.kind == "equal" for each in product(8, exact=True).steps)


def test_a_product_in_registers(golden: Golden) -> None:
    s = Schedule(matmul)
    recipes.tiled_matmul(s, tile=(32, 16), depth=8, cells=(4, 2))
    golden("recipes/matmul_registers.py", s.source())
    text = cuda_text(s, matrices(1, 1, 1))
    golden("recipes/matmul_registers_cuda.py", text)
    assert text.count("cuda.syncthreads()") == 2
    assert "C_local = cuda.local.array((4, 2), np.float32)" in text
    s = Schedule(matmul)
    recipes.tiled_matmul(s, tile=(8, 6), depth=5, cells=(2, 3))
    assert_emulates(s, matrices, MATRICES)


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
    assert_emulates(s, matrices, MATRICES)


# --- what they refuse ---------------------------------------------------------------------------


def test_a_program_without_these_loops() -> None:
    with pytest.raises(ScheduleError, match="no loop named 'k'"):
        recipes.tiled_matmul(Schedule(blur), ["out.i", "out.j", "k"], result="out")


def test_cells_that_do_not_fill_a_tile() -> None:
    with pytest.raises(ScheduleError, match=r"cells of \(3, 1\) do not fill a tile of \(16, 16\)"):
        recipes.tiled_matmul(Schedule(matmul), cells=(3, 1))


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


# --- what they compute --------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "tile"), [(8, (16, 16)), (24, (16, 16)), (3, (4, 5))])
def test_products_at_awkward_sizes(depth: int, tile: tuple[int, int]) -> None:
    s = product(depth, tile)
    assert_emulates(s, matrices, MATRICES)


def test_products_in_plain_python() -> None:
    s = product(3, (4, 5))

    def arguments(n: int) -> tuple[object, ...]:
        return matrices(n, 2 * n + 3, n + 1)

    assert_same_results(s.original, s.program, arguments, (0, 1, 3, 4, 5, 11))


@pytest.mark.parametrize(("kernel", "arguments"), [(blur, image), (three, image_and_weights)])
def test_chains_at_awkward_sizes(
    kernel: Callable[..., None], arguments: Callable[..., tuple[object, ...]]
) -> None:
    s = Schedule(kernel)
    recipes.stencil_chain(s, "out", (4, 8))
    at = [(1, 1), (3, 3), (6, 7), (7, 7), (4, 8), (9, 17), (13, 31)]
    assert_emulates(s, arguments, at)


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


# --- their traces -------------------------------------------------------------------------------


def test_the_printed_scripts_replay() -> None:
    assert_replays(product(24))
    s = Schedule(blur)
    recipes.stencil_chain(s, "out")
    assert_replays(s)
