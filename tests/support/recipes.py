"""All recipes on kernels that people write: for tests, and for whatever goes over all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from astile.analysis.proof.verdicts import Proved
from astile.schedule import recipes
from astile.schedule.prover import Prover
from astile.schedule.schedule import Schedule


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]


def half_matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += np.float32(A[i, k]) * np.float32(B[k, j])


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


def softmax(x, out):
    n, m = x.shape
    for i in range(n):
        top = -np.inf
        for j in range(m):
            top = max(top, x[i, j])
        total = np.float32(0.0)
        for j in range(m):
            e = np.float32(math.exp(x[i, j] - top))
            out[i, j] = e
            total += e
        for j in range(m):
            out[i, j] /= total


def layernorm(x, gain, bias, out):
    n, m = x.shape
    for i in range(n):
        total = 0.0
        for j in range(m):
            total += x[i, j]
        mean = total / m
        spread = 0.0
        for j in range(m):
            spread += (x[i, j] - mean) * (x[i, j] - mean)
        scale = 1.0 / math.sqrt(spread / m + 1e-5)
        for j in range(m):
            out[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]


def transpose(A, B):
    n, m = A.shape
    for i in range(n):
        for j in range(m):
            B[j, i] = A[i, j]


def jacobi(a, b):
    n, m = a.shape
    for t in range(10):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = b[i, j]


def weighted(x, w, counts):
    for i in range(len(x)):
        counts[x[i]] += w[i]


def histogram(x, out):
    counts = np.zeros(32, np.int32)
    for i in range(len(x)):
        counts[x[i] // 8] += 1
    for c in range(32):
        out[c] = counts[c]


def matrices(m: int, k: int, n: int) -> tuple[object, ...]:
    a, b = np.arange(m * k) % 7, np.arange(k * n) % 5
    shapes = (m, k), (k, n)
    a, b = (x.reshape(s).astype(np.float32) for x, s in zip((a, b), shapes, strict=True))
    return a, b, np.full((m, n), 9, np.float32)


def half_matrices(m: int, k: int, n: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(m + k + n)
    a, b = random.standard_normal((m, k)), random.standard_normal((k, n))
    return a.astype(np.float16), b.astype(np.float16), np.full((m, n), 9, np.float32)


def image(m: int, n: int) -> tuple[object, ...]:
    return (np.arange(m * n) % 17).reshape(m, n).astype(np.float32), np.zeros((m, n), np.float32)


def image_and_weights(m: int, n: int) -> tuple[object, ...]:
    x, out = image(m, n)
    return x, np.arange(9, dtype=np.float32).reshape(3, 3), out


def rows(m: int, n: int) -> tuple[object, ...]:
    x, out = image(m, n)
    return np.sin(x), np.cos(np.arange(n, dtype=np.float32)), np.full(n, 9, np.float32), out


def turned(m: int, n: int) -> tuple[object, ...]:
    return image(m, n)[0], np.full((n, m), 9, np.float32)


def data(n: int) -> tuple[object, ...]:
    x = np.arange(n) * 37
    return x % 11 - 2, x.astype(np.float32) / 16, np.full(9, 0.5, np.float32)


def pixels(n: int) -> tuple[object, ...]:
    return (np.arange(n) * 37).astype(np.uint8), np.full(32, 9)


@cache
def on_matrix_units() -> Schedule:
    """The product of float16 in tiles of 128 x 128 x 32, with tests of its own."""
    s = Schedule(half_matmul)
    recipes.tensor_core_matmul(s)
    return s


@contextmanager
def without_proofs() -> Iterator[None]:
    """Inside, steps are taken without a proof: other tests prove them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Prover, "prove", lambda *_, **__: Proved("equal", (), 0.0))
        yield


@dataclass(frozen=True)
class Recipe:
    """One recipe on one kernel.

    Args:
        name: of its golden files.
        kernel: the plain function.
        apply: takes the steps on a schedule of it.
        arguments: sizes -> arguments.
        at: awkward sizes.
        barriers: how many barriers the CUDA text has; None for recipes that are for CPUs.
        small: the same recipe with small tiles, which small sizes fill and overrun.
    """

    name: str
    kernel: Callable[..., None]
    apply: Callable[[Schedule], object]
    small: Callable[[Schedule], object]
    arguments: Callable[..., tuple[object, ...]]
    at: tuple[tuple[int, ...], ...]
    barriers: int | None

    def schedule(self, *, small: bool = False) -> Schedule:
        """A schedule with the steps taken."""
        s = Schedule(self.kernel)
        (self.small if small else self.apply)(s)
        return s


#: Rows, summed up, columns: also more to sum up than columns, nothing to sum up, and nothing.
MATRICES = ((1, 1, 1), (4, 6, 5), (17, 5, 3), (5, 23, 7), (9, 12, 20), (4, 0, 3), (0, 3, 4))
IMAGES = ((1, 1), (3, 3), (6, 7), (4, 8), (9, 17), (11, 23))
ROWS = ((1, 1), (0, 3), (3, 7), (2, 8), (3, 9), (1, 37), (5, 64))
DATA = ((0,), (1,), (3,), (8,), (9,), (16,), (17,), (41,))
GRIDS = ((1, 1), (2, 2), (3, 3), (4, 6), (7, 5), (12, 13), (9, 23))

RECIPES = (
    Recipe(
        "matmul_24",
        matmul,
        lambda s: recipes.tiled_matmul(s, depth=24),
        lambda s: recipes.tiled_matmul(s, depth=7, tile=(4, 3)),
        matrices,
        MATRICES,
        2,
    ),
    Recipe(
        "matmul_registers",
        matmul,
        lambda s: recipes.tiled_matmul(s, tile=(128, 128), depth=8, cells=(8, 8)),
        lambda s: recipes.tiled_matmul(s, tile=(8, 8), depth=4, cells=(4, 4)),
        matrices,
        MATRICES,
        8,
    ),
    Recipe(
        "matmul_pipelined",
        matmul,
        lambda s: recipes.tiled_matmul(s, tile=(32, 16), depth=8, cells=(4, 2), stages=3),
        lambda s: recipes.tiled_matmul(s, tile=(4, 6), depth=3, cells=(2, 3), stages=2),
        matrices,
        MATRICES,
        7,
    ),
    Recipe(
        "matmul_packed",
        matmul,
        lambda s: recipes.packed_matmul(s),
        lambda s: recipes.packed_matmul(s, rows=2, columns=5),
        matrices,
        MATRICES,
        None,
    ),
    Recipe(
        "blur",
        blur,
        lambda s: recipes.stencil_chain(s, "out"),
        lambda s: recipes.stencil_chain(s, "out", (4, 8)),
        image,
        IMAGES,
        1,
    ),
    Recipe(
        "three",
        three,
        lambda s: recipes.stencil_chain(s, "out"),
        lambda s: recipes.stencil_chain(s, "out", (4, 8)),
        image_and_weights,
        IMAGES,
        2,
    ),
    Recipe(
        "softmax",
        softmax,
        lambda s: recipes.row_reduction(s, "i"),
        lambda s: recipes.row_reduction(s, "i", 32),
        lambda m, n: (np.sin(image(m, n)[0]), image(m, n)[1]),
        ROWS,
        2,
    ),
    Recipe(
        "layernorm",
        layernorm,
        lambda s: recipes.row_reduction(s, "i"),
        lambda s: recipes.row_reduction(s, "i", 20),
        rows,
        ROWS,
        2,
    ),
    Recipe(
        "softmax_vectors",
        softmax,
        lambda s: recipes.vector_rows(s, "i"),
        lambda s: recipes.vector_rows(s, "i", lanes=8, block=2),
        lambda m, n: (np.sin(image(m, n)[0]), image(m, n)[1]),
        ROWS,
        None,
    ),
    Recipe(
        "transpose",
        transpose,
        lambda s: recipes.transposed(s),
        lambda s: recipes.transposed(s, tile=5, rows=2),
        turned,
        ((1, 1), (5, 5), (4, 6), (11, 3), (1, 17), (10, 23), (0, 4)),
        1,
    ),
    Recipe(
        "jacobi",
        jacobi,
        lambda s: recipes.time_tiled(s, "t", (5, 32, 32)),
        lambda s: recipes.time_tiled(s, "t", (3, 4, 5)),
        image,
        GRIDS,
        0,
    ),
    Recipe(
        "fronts",
        jacobi,
        lambda s: recipes.time_fronts(s, "t", (5, 64)),
        lambda s: recipes.time_fronts(s, "t", (3, 4)),
        image,
        GRIDS,
        None,
    ),
    Recipe(
        "histogram",
        weighted,
        lambda s: recipes.histogram(s, "i", "counts"),
        lambda s: recipes.histogram(s, "i", "counts", parts=3),
        data,
        DATA,
        None,
    ),
    Recipe(
        "block_histogram",
        histogram,
        lambda s: recipes.block_histogram(s, "i", "counts"),
        lambda s: recipes.block_histogram(s, "i", "counts", blocks=2, threads=4),
        pixels,
        DATA,
        1,
    ),
)


@cache
def small(recipe: Recipe) -> Schedule:
    """The small schedule of a recipe, proved once for all tests: they leave it as it is."""
    return recipe.schedule(small=True)
