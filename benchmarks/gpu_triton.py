"""Programs in Triton; imported only where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import triton
import triton.language as tl

_BLOCK = 64


@triton.jit
def _product(a, b, c, rows, columns, depth, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def] # noqa: N803
    """Row-major matrices without gaps."""
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for first in range(0, depth, 32):
        k = first + tl.arange(0, 32)
        in_a = (i[:, None] < rows) & (k[None, :] < depth)
        in_b = (k[:, None] < depth) & (j[None, :] < columns)
        one = tl.load(a + i[:, None] * depth + k[None, :], mask=in_a, other=0.0)
        other = tl.load(b + k[:, None] * columns + j[None, :], mask=in_b, other=0.0)
        total += tl.dot(one, other, input_precision="ieee")
    inside = (i[:, None] < rows) & (j[None, :] < columns)
    tl.store(c + i[:, None] * columns + j[None, :], total, mask=inside)


@triton.jit
def _softmax(x, out, columns, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def] # noqa: N803
    """A program for each row."""
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    cells = tl.load(x + row * columns + j, mask=j < columns, other=-float("inf"))
    powers = tl.exp(cells - tl.max(cells, axis=0))
    tl.store(out + row * columns + j, powers / tl.sum(powers, axis=0), mask=j < columns)


def _product_of(tensors: Sequence[Any]) -> Callable[[], Any]:
    a, b, c = tensors
    rows, columns = c.shape
    grid = (triton.cdiv(columns, _BLOCK), triton.cdiv(rows, _BLOCK))
    return lambda: _product[grid](a, b, c, rows, columns, a.shape[1], BLOCK=_BLOCK)


def _softmax_of(tensors: Sequence[Any]) -> Callable[[], Any]:
    x, out = tensors
    rows, columns = x.shape
    return lambda: _softmax[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))


#: Name of a program -> makes a call of it, of tensors.
PROGRAMS: Mapping[str, Callable[[Sequence[Any]], Callable[[], Any]]] = {
    "matmul": _product_of,
    "softmax": _softmax_of,
}
