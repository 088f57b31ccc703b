"""Hand-written scheduled programs, their arguments and NumPy references."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from astile.ir import query
from astile.ir.program import Program
from astile.source import SourceFile

Arrays = tuple[list[NDArray[np.float32]], NDArray[np.float32]]


def program(text: str, imports: Mapping[str, str] | None = None, **fields: object) -> Program:
    """The program of the last function in a text."""
    text = textwrap.dedent(text).lstrip("\n")
    functions = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
    known = {"np": "numpy", "math": "math"} if imports is None else imports
    return Program(functions[-1], SourceFile("<test>", text), imports=known, **fields)


@dataclass(frozen=True)
class Case:
    """A scheduled program.

    Args:
        name: what it is.
        text: its function.
        arguments: (rows, columns) -> arguments, the output last, and the expected output.
    """

    name: str
    text: str
    arguments: Callable[[int, int], Arrays]

    def program(self) -> Program:
        """The program."""
        return program(self.text)

    def types(self) -> dict[str, str]:
        """Its parameters, all of them arrays of float32."""
        return dict.fromkeys(query.parameters(self.program().function), "float32")


def _random(*shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(sum(shape)).random(shape, dtype=np.float32)


# --- conv + add ---------------------------------------------------------------------------------


def conv_add_text(rows: int, columns: int) -> str:
    """Conv + add, tiled, the intermediate in shared memory."""
    i, j = f"i_0 * {rows} + i_1", f"j_0 * {columns} + j_1"
    return f"""
    def conv_add(x, w, bias, out):
        H, W = out.shape
        for i_0 in block.y((H + {rows - 1}) // {rows}):
            for j_0 in block.x((W + {columns - 1}) // {columns}):
                conv_shared = shared.empty(({rows}, {columns}), np.float32)
                for i_1 in thread.y({rows}):
                    for j_1 in thread.x({columns}):
                        if {i} < H and {j} < W:
                            acc = np.float32(0.0)
                            for p in range(3):
                                for q in range(3):
                                    acc += x[{i} + p, {j} + q] * w[p, q]
                            conv_shared[i_1, j_1] = acc
                for i_1 in thread.y({rows}):
                    for j_1 in thread.x({columns}):
                        if {i} < H and {j} < W:
                            out[{i}, {j}] = conv_shared[i_1, j_1] + bias[{i}, {j}]
    """


def _conv(x: NDArray[np.float32], w: NDArray[np.float32]) -> NDArray[np.float32]:
    height, width = x.shape[0] - 2, x.shape[1] - 2
    result = np.zeros((height, width), np.float32)
    for p in range(3):
        for q in range(3):
            result += x[p : p + height, q : q + width] * w[p, q]
    return result


def conv_add_arguments(height: int, width: int) -> Arrays:
    x, w, bias = _random(height + 2, width + 2), _random(3, 3), _random(height, width)
    return [x, w, bias, np.zeros((height, width), np.float32)], _conv(x, w) + bias


CONV_ADD_RELU = """
def conv_add_relu(x, w, bias, out):
    H, W = out.shape
    for i_0 in block.y((H + 15) // 16):
        for j_0 in block.x((W + 15) // 16):
            conv_shared = shared.empty((16, 16), np.float32)
            added_shared = shared.empty((16, 16), np.float32)
            for i_1 in thread.y(16):
                for j_1 in thread.x(16):
                    if i_0 * 16 + i_1 < H and j_0 * 16 + j_1 < W:
                        conv_shared[i_1, j_1] = 0.0
                        for p in range(3):
                            for q in range(3):
                                conv_shared[i_1, j_1] += (
                                    x[i_0 * 16 + i_1 + p, j_0 * 16 + j_1 + q] * w[p, q]
                                )
            for i_1 in thread.y(16):
                for j_1 in thread.x(16):
                    if i_0 * 16 + i_1 < H and j_0 * 16 + j_1 < W:
                        added_shared[i_1, j_1] = (
                            conv_shared[i_1, j_1] + bias[i_0 * 16 + i_1, j_0 * 16 + j_1]
                        )
            for i_1 in thread.y(16):
                for j_1 in thread.x(16):
                    if i_0 * 16 + i_1 < H and j_0 * 16 + j_1 < W:
                        out[i_0 * 16 + i_1, j_0 * 16 + j_1] = max(added_shared[i_1, j_1], 0.0)
"""


def conv_add_relu_arguments(height: int, width: int) -> Arrays:
    x, w, bias = _random(height + 2, width + 2), _random(3, 3), _random(height, width) - 4
    expected = np.maximum(_conv(x, w) + bias, 0)
    return [x, w, bias, np.zeros((height, width), np.float32)], expected


# --- blur ---------------------------------------------------------------------------------------

BLUR = """
def blur(x, out):
    H, W = x.shape
    for i_0 in block.y((H + 15) // 16):
        for j_0 in block.x((W + 15) // 16):
            wide_shared = shared.empty((18, 16), np.float32)
            for i_1 in thread.y(18):
                for j_1 in thread.x(16):
                    if 0 <= i_0 * 16 + i_1 - 1 < H and j_0 * 16 + j_1 < W:
                        wide_shared[i_1, j_1] = x[i_0 * 16 + i_1 - 1, j_0 * 16 + j_1]
                        if j_0 * 16 + j_1 - 1 >= 0:
                            wide_shared[i_1, j_1] += x[i_0 * 16 + i_1 - 1, j_0 * 16 + j_1 - 1]
                        if j_0 * 16 + j_1 + 1 < W:
                            wide_shared[i_1, j_1] += x[i_0 * 16 + i_1 - 1, j_0 * 16 + j_1 + 1]
                    else:
                        wide_shared[i_1, j_1] = 0.0
            for i_1 in thread.y(16):
                for j_1 in thread.x(16):
                    if i_0 * 16 + i_1 < H and j_0 * 16 + j_1 < W:
                        out[i_0 * 16 + i_1, j_0 * 16 + j_1] = (
                            wide_shared[i_1, j_1]
                            + wide_shared[i_1 + 1, j_1]
                            + wide_shared[i_1 + 2, j_1]
                        )
"""


def blur_arguments(height: int, width: int) -> Arrays:
    x = _random(height, width)
    padded = np.pad(x, 1)
    wide = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    expected = wide[:-2] + wide[1:-1] + wide[2:]
    return [x, np.zeros((height, width), np.float32)], expected.astype(np.float32)


# --- matmul -------------------------------------------------------------------------------------

MATMUL = """
def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i_0 in block.y((M + 15) // 16):
        for j_0 in block.x((N + 15) // 16):
            A_shared = shared.empty((16, 16), np.float32)
            B_shared = shared.empty((16, 16), np.float32)
            acc = local.empty((16, 16), np.float32)
            for i_1 in thread.y(16):
                for j_1 in thread.x(16):
                    acc[i_1, j_1] = 0.0
            for k_0 in range((K + 15) // 16):
                for i_1 in thread.y(16):
                    for k_1 in thread.x(16):
                        if i_0 * 16 + i_1 < M and k_0 * 16 + k_1 < K:
                            A_shared[i_1, k_1] = A[i_0 * 16 + i_1, k_0 * 16 + k_1]
                for k_1 in thread.y(16):
                    for j_1 in thread.x(16):
                        if k_0 * 16 + k_1 < K and j_0 * 16 + j_1 < N:
                            B_shared[k_1, j_1] = B[k_0 * 16 + k_1, j_0 * 16 + j_1]
                for i_1 in thread.y(16):
                    for j_1 in thread.x(16):
                        if i_0 * 16 + i_1 < M and j_0 * 16 + j_1 < N:
                            for k_1 in range(min(16, K - k_0 * 16)):
                                acc[i_1, j_1] += A_shared[i_1, k_1] * B_shared[k_1, j_1]
            for i_1 in thread.y(16):
                for j_1 in thread.x(16):
                    if i_0 * 16 + i_1 < M and j_0 * 16 + j_1 < N:
                        C[i_0 * 16 + i_1, j_0 * 16 + j_1] = acc[i_1, j_1]
"""


def matmul_arguments(height: int, width: int) -> Arrays:
    a, b = _random(height, width + 3), _random(width + 3, width)
    return [a, b, np.zeros((height, width), np.float32)], a @ b


#: Each thread computes four cells of a row and two rows: local arrays per thread are 2 x 4.
MATMUL_REGISTERS = """
def matmul_registers(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i_0 in block.y((M + 7) // 8):
        for j_0 in block.x((N + 31) // 32):
            acc = local.empty((8, 32), np.float32)
            for i_1 in thread.y(4):
                for j_1 in thread.x(8):
                    for i_2 in unroll(2):
                        for j_2 in unroll(4):
                            acc[i_1 * 2 + i_2, j_2 * 8 + j_1] = 0.0
            for k in range(K):
                for i_1 in thread.y(4):
                    for j_1 in thread.x(8):
                        for i_2 in unroll(2):
                            for j_2 in unroll(4):
                                if i_0 * 8 + i_1 * 2 + i_2 < M and j_0 * 32 + j_2 * 8 + j_1 < N:
                                    acc[i_1 * 2 + i_2, j_2 * 8 + j_1] += (
                                        A[i_0 * 8 + i_1 * 2 + i_2, k]
                                        * B[k, j_0 * 32 + j_2 * 8 + j_1]
                                    )
            for i_1 in thread.y(4):
                for j_1 in thread.x(8):
                    for i_2 in unroll(2):
                        for j_2 in unroll(4):
                            if i_0 * 8 + i_1 * 2 + i_2 < M and j_0 * 32 + j_2 * 8 + j_1 < N:
                                C[i_0 * 8 + i_1 * 2 + i_2, j_0 * 32 + j_2 * 8 + j_1] = acc[
                                    i_1 * 2 + i_2, j_2 * 8 + j_1
                                ]
"""

# --- softmax ------------------------------------------------------------------------------------

SOFTMAX = """
def softmax(x, out):
    H, W = x.shape
    for i in block.x(H):
        part = shared.empty((32,), np.float32)
        total = shared.empty((2,), np.float32)
        for t in thread.x(32):
            part[t] = -np.inf
            for j_0 in range((W + 31) // 32):
                if j_0 * 32 + t < W:
                    part[t] = max(part[t], x[i, j_0 * 32 + t])
        total[0] = part[0]
        for k in range(1, 32):
            total[0] = max(total[0], part[k])
        largest = total[0]
        for t in thread.x(32):
            part[t] = 0.0
            for j_0 in range((W + 31) // 32):
                if j_0 * 32 + t < W:
                    part[t] += math.exp(x[i, j_0 * 32 + t] - largest)
        total[1] = 0.0
        for k in range(32):
            total[1] += part[k]
        for t in thread.x(32):
            for j_0 in range((W + 31) // 32):
                if j_0 * 32 + t < W:
                    out[i, j_0 * 32 + t] = math.exp(x[i, j_0 * 32 + t] - total[0]) / total[1]
"""


def softmax_arguments(height: int, width: int) -> Arrays:
    x = _random(height, width)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return [x, np.zeros((height, width), np.float32)], e / e.sum(axis=1, keepdims=True)


# --- a loop under blocks alone ------------------------------------------------------------------

ROW_SUMS = """
def row_sums(x, out):
    H, W = x.shape
    for i in block.x(H):
        total = np.float32(0.0)
        for j in range(W):
            total += x[i, j]
        for j in thread.x(8):
            if j < W:
                out[i, j] = total + x[i, j]
        if W > 8:
            for j in range(8, W):
                out[i, j] = total + x[i, j]
"""


def row_sums_arguments(height: int, width: int) -> Arrays:
    x = _random(height, width)
    return [x, np.zeros((height, width), np.float32)], x.sum(axis=1, keepdims=True) + x


CASES = (
    Case("conv_add_16x16", conv_add_text(16, 16), conv_add_arguments),
    Case("conv_add_8x32", conv_add_text(8, 32), conv_add_arguments),
    Case("conv_add_10x3", conv_add_text(10, 3), conv_add_arguments),
    Case("conv_add_relu", CONV_ADD_RELU, conv_add_relu_arguments),
    Case("blur", BLUR, blur_arguments),
    Case("matmul", MATMUL, matmul_arguments),
    Case("matmul_registers", MATMUL_REGISTERS, matmul_arguments),
    Case("softmax", SOFTMAX, softmax_arguments),
    Case("row_sums", ROW_SUMS, row_sums_arguments),
)
SIZES = ((1, 1), (7, 7), (15, 15), (16, 16), (17, 17), (33, 31))
