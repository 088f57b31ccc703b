"""Products of 16 x 8 sums for the threads of one warp, in the forms that instructions read."""

from __future__ import annotations

import numpy as np

#: The operands as they can lie in shared memory: axes of the tile -> how it is written and read.
ROWS = {"by rows": ("i, k", "h * 8 + r, k"), "by columns": ("k, i", "k, h * 8 + r")}
COLUMNS = {
    "by rows": ("k, j", "k, u * 8 + p * 2 + q"),
    "by columns": ("j, k", "u * 8 + p * 2 + q, k"),
}

_TEXT = """
def f(A, B, C):
    for b in block.x(1):
        a = shared.empty({a_shape}, A.dtype)
        w = shared.empty(({first}, {second}), B.dtype)
        for i in thread.y(8):
            for k_0 in thread.x(4):
                for i_1 in range(2):
                    for k_1 in range({steps}):
                        a[{a_write}] = A[i_1 * 8 + i, k_1 * 4 + k_0]
        for j in thread.y(8):
            for k_0 in thread.x(4):
                for u in range({tiles}):
                    for k_1 in range({steps}):
                        w[{w_write}] = B[k_1 * 4 + k_0, u * 8 + j]
        for r in thread.y(8):
            for p in thread.x(4):
                for {u} in range({tiles}):
                    for h in range(2):
                        for q in range(2):
                            for {k} in {word}({depth}):
                                C[h * 8 + r, {u} * 8 + p * 2 + q] += {value}
"""


def text(
    rows: str = "by rows",
    columns: str = "by rows",
    tiles: int = 2,
    word: str = "range",
    value: str = "",
    rounding: str = "np.float32",
    depth: int = 16,
) -> str:
    """The program.

    Args:
        rows: how the first operand lies, a key of `ROWS`.
        columns: how the second one lies.
        tiles: how many tiles of 16 x 8 sums there are side by side.
        word: of the loop over what is summed up.
        value: what is added; the product of both operands where it is empty.
        rounding: the function around each operand of the product.
        depth: products for each sum.
    """
    a_axes, a_read = ROWS[rows]
    w_axes, w_read = COLUMNS[columns]
    width = tiles * 8
    shape = (depth, width + 8) if w_axes == "k, j" else (width, 24)
    cells = {"i": "i_1 * 8 + i", "k": "k_1 * 4 + k_0", "j": "u * 8 + j"}
    return _TEXT.format(
        depth=depth,
        steps=depth // 4,
        a_shape=(16, 24),
        first=shape[0],
        second=shape[1],
        tiles=tiles,
        u="u",
        k="k",
        word=word,
        a_write=", ".join(cells[e] for e in a_axes.split(", ")),
        w_write=", ".join(cells[e] for e in w_axes.split(", ")),
        value=value or f"{rounding}(a[{a_read}]) * {rounding}(w[{w_read}])",
    )


def matrices(
    tiles: int = 2, depth: int = 16, dtype: type[np.floating] = np.float16
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Operands and sums, as multiples of a power of 2 so that no order of sums matters."""
    random = np.random.default_rng(tiles)
    shapes = (16, depth), (depth, tiles * 8), (16, tiles * 8)
    a, b, c = (random.integers(-8, 8, shape) / 4 for shape in shapes)
    return a.astype(dtype), b.astype(dtype), c.astype(np.float32)
